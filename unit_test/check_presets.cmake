# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# With a preset, CMake finds packages in the folders of CMAKE_PREFIX_PATH, then in
# dependencies/<backend>, and never in the current folder, which an empty entry of
# that variable stands for. (CMAKE_APPBUNDLE_PATH is the variable that find_package
# reads after it, on all systems.)
file(REMOVE_RECURSE ${work_dir})
file(COPY ${source_dir}/CMakePresets.json DESTINATION ${work_dir})
file(WRITE ${work_dir}/CMakeLists.txt [[
cmake_minimum_required(VERSION 3.22)
project(Presets LANGUAGES NONE)
foreach(package Built Shared Here)
  find_package(StrataProbe${package} QUIET)
  message("${package}: ${StrataProbe${package}_DIR}.")
endforeach()
]])
function(make folder package)
  file(WRITE ${work_dir}/${folder}/lib/cmake/StrataProbe${package}/StrataProbe${package}Config.cmake "")
endfunction()
make(. Here)
make(user Shared)
foreach(backend serial openmp cuda hip)
  make(dependencies/${backend} Built)
  make(dependencies/${backend} Shared)
endforeach()

# expect(PRESET LINE OPTION...): a configuration with that preset, and with these
# options of `cmake -E env`, prints the line.
function(expect preset line)
  file(REMOVE_RECURSE ${work_dir}/build)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env ${ARGN} ${CMAKE_COMMAND} --preset ${preset}
      -G ${generator}
    WORKING_DIRECTORY ${work_dir}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "${line}\n" place)
  if(NOT result EQUAL 0 OR place EQUAL -1)
    message(FATAL_ERROR "${preset} with ${ARGN} ended with ${result}, where \"${line}\" is "
      "expected:\n${output}")
  endif()
endfunction()

file(READ ${source_dir}/CMakePresets.json presets)
string(JSON number LENGTH ${presets} configurePresets)
math(EXPR last "${number} - 1")
set(checked 0)
foreach(k RANGE ${last})
  string(JSON hidden ERROR_VARIABLE none GET ${presets} configurePresets ${k} hidden)
  if(hidden STREQUAL "ON")
    continue()
  endif()
  string(JSON preset GET ${presets} configurePresets ${k} name)
  string(REGEX MATCH "^[a-z]+" backend ${preset})
  set(built ${work_dir}/dependencies/${backend}/lib/cmake)
  foreach(option --unset=CMAKE_PREFIX_PATH CMAKE_PREFIX_PATH=${work_dir}/user)
    expect(${preset} "Here: StrataProbeHere_DIR-NOTFOUND." ${option})
    expect(${preset} "Built: ${built}/StrataProbeBuilt." ${option})
  endforeach()
  expect(${preset} "Shared: ${built}/StrataProbeShared." --unset=CMAKE_PREFIX_PATH)
  expect(${preset} "Shared: ${work_dir}/user/lib/cmake/StrataProbeShared."
    CMAKE_PREFIX_PATH=${work_dir}/user)
  math(EXPR checked "${checked} + 1")
endforeach()
if(checked LESS 4)
  message(FATAL_ERROR "there are ${checked} presets")
endif()
