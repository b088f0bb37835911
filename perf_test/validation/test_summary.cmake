# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What scripts/summarise validation says of a table whose numbers are known, and of one that
# was measured.   -D program= -D python= -D scripts= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../plot_test.cmake)
set(summary ${python} ${scripts}/summarise validation)

string(CONCAT header "family,system,scalar,rows,nnz,levels,longest_row,merged_levels,chosen,"
  "solve_us,a_us,a_merged_levels,a_timing,b_us,b_merged_levels,b_timing,"
  "cusparse_us,analysis_us,cusparse_analysis_us,bytes_us,floor_us,rowwise_error,outcome,"
  "message\n")
# Regret 1, 2 and 1; analyses 4, 1 and 0.25 times
# cuSPARSE's; 2, 8 and 4 times as fast; 1, 2 and 4 times the floor. The last choice is fastest,
# as the other's answer is wrong where it is faster.
file(WRITE ${work_dir}/first.csv "${header}"
  "grid,g:1,double,9,9,3,3,1,a,10,10,1,full,90,1,once,20,400,100,10,10,1,right,\n"
  "grid,g:2,double,9,9,3,3,1,a,20,20,1,full,10,1,full,160,100,100,1,10,1,right,\n")
file(WRITE ${work_dir}/second.csv "${header}"
  "long,l:1,double,200000,9,3,3,1,b,40,,1,left_out,40,1,full,160,50,200,2,10,1,right,\n")
file(WRITE ${work_dir}/wrong.csv "${header}"
  "long,l:2,double,9,9,3,3,1,b,40,2,1,wrong,40,1,full,160,50,200,2,10,1,right,\n"
  "long,l:3,double,9,9,3,3,1,b,40,50,1,full,40,1,full,160,50,200,2,10,1,wrong,\n")

run(${summary} ${work_dir}/first.csv ${work_dir}/second.csv)
expect_text("3 systems in 2 families, double"
  "| regret | 3 | 1.26 | 1 | 1 | 2 | 2 | 2 | 2 |"
  "| analysis over cuSPARSE's | 3 | 1 | 0.25 | 1 | 4 | 4 | 4 | 4 |"
  "| cuSPARSE's solve over ours | 3 | 4 | 2 | 4 | 8 | 8 | 8 | 8 |"
  "| solve over its floor | 3 | 2 | 1 | 2 | 4 | 4 | 4 | 4 |"
  "| below 10,000 | 2 | 4 | 2 | 8 | 2 |"
  "| from 50,000 below 200,000 | 0 | - | - | - | - |"
  "| from 200,000 below 500,000 | 1 | 4 | 4 | 4 | 0.25 |"
  "| from 200,000 | 1 | 4 | 4 | 4 | 0.25 |"
  "| all | 3 | 4 | 2 | 8 | 1 |"
  "Regret at most 1.15: 66.7 % of the systems."
  "| grid | 2 | 1 | 2 | 2 | 50.0 % | 2 | 4 | 4 | 2 | 1.41 | 2 |"
  "| all | 3 | 1 | 2 | 2 | 66.7 % | 1 | 4 | 4 | 2 | 2 | 4 |"
  "| bytes bind | 1 | 1 | 1 | 1 | 100.0 % | 4 | 4 | 2 | 2 | 1 | 1 |"
  "| a | 2 | 1 | 2 | 0 | 1 | 0 |"
  "| b | 1 | 2 | 2 | 1 | 0 | 0 |"
  "Largest regret:\n\n| system | family | rows | nnz | level sets | ratio | chosen | us | fastest | its us |\n|---|---|---|---|---|---|---|---|---|---|\n| g:2 | grid | 9 | 9 | 3 | 2 | a | 20 | b | 10 |")

# A wrong answer is named, and is not the fastest.
expect_complaint("2 answers are not right" ${summary} ${work_dir}/wrong.csv)
expect_text("No right answer: l:2: a wrong" "No right answer: l:3: wrong"
  "| regret | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 |")

expect_complaint("absent.csv" ${summary} ${work_dir}/absent.csv)
expect_complaint("'g:1' is in the tables twice" ${summary} ${work_dir}/first.csv ${work_dir}/first.csv)
run(${summary} --repeats ${work_dir}/first.csv ${work_dir}/first.csv)
expect_text("4 systems in 1 families, double")
file(WRITE ${work_dir}/other.csv "matrix,algorithm\na,b\n")
expect_complaint("no column family.*strata_perf_validation" ${summary} ${work_dir}/other.csv)
file(WRITE ${work_dir}/empty.csv "${header}")
expect_complaint("has no rows" ${summary} ${work_dir}/empty.csv)
file(WRITE ${work_dir}/cut.csv "${header}" "grid,g:1,double,9\n")
expect_complaint("cut off" ${summary} ${work_dir}/cut.csv)
file(READ ${work_dir}/first.csv other)
string(REPLACE "b_" "c_" other "${other}")
file(WRITE ${work_dir}/other.csv "${other}")
expect_complaint("other columns" ${summary} ${work_dir}/first.csv ${work_dir}/other.csv)

# What solves promise.
string(REPLACE "outcome" "accuracy,outcome" accurate "${header}")
foreach(accuracy rowwise componentwise)
  file(WRITE ${work_dir}/${accuracy}.csv "${accurate}"
    "grid,${accuracy},double,9,9,3,3,1,a,10,10,1,full,90,1,once,20,400,100,10,10,1,${accuracy},right,\n")
endforeach()
run(${summary} ${work_dir}/componentwise.csv)
expect_text("1 systems in 1 families, double, accuracy = componentwise")
expect_complaint("several accuracies" ${summary} ${work_dir}/rowwise.csv ${work_dir}/componentwise.csv)

# README.md has the numbers of the table of unseen systems.
run(${summary} --repeats ${scripts}/../docs/tables/validation_unseen_h200.csv)
set(numbers)
foreach(line "all" "below 200,000" "from 200,000" "from 500,000")
  if(NOT output MATCHES "\n\\| ${line} \\| ([0-9]+) \\| ([0-9.]+) \\| ([0-9.]+) \\| [0-9.]+ \\| [0-9.]+ \\|\n")
    message(FATAL_ERROR "no line '${line}' in\n${output}")
  endif()
  list(APPEND numbers ${CMAKE_MATCH_1} ${CMAKE_MATCH_2} ${CMAKE_MATCH_3})
endforeach()
list(GET numbers 0 1 2 all)
list(GET numbers 4 small)
list(GET numbers 7 large)
list(GET numbers 10 largest)
list(GET all 0 count)
list(GET all 1 mean)
list(GET all 2 least)
string(CONCAT sentence "${mean} times as fast as cuSPARSE's in the geometric mean of ${count} "
  "systems that the library was not tuned on, and ${least} times at least: ${small} times "
  "below 200,000 rows, ${large} from there on, ${largest} from 500,000 rows on")
file(READ ${scripts}/../README.md readme)
string(REGEX REPLACE "[ \n]+" " " readme "${readme}")
string(FIND "${readme}" "${sentence}" place)
if(place EQUAL -1)
  message(SEND_ERROR "README.md does not say '${sentence}'")
endif()

# Shares of a run.
foreach(part RANGE 1 2)
  run(${program} --families deep,grid3d --per-family 2 --part ${part}/2 --milliseconds 1
    --table ${work_dir}/part_${part}.csv)
endforeach()
run(${summary} ${work_dir}/part_1.csv ${work_dir}/part_2.csv)
expect_text("4 systems in 2 families, double" "| grid3d | 2 |" "| deep | 2 |"
  "grid3d:14/random")
