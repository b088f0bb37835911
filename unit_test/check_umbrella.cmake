# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Strata.hpp includes every public header, and nothing else: but for the one that
# needs more of Kokkos Kernels than its oldest release has.
#
#   cmake -D source_dir=DIR -D headers=NAME[,NAME...] -P check_umbrella.cmake
string(REPLACE "," ";" headers "${headers}")
list(REMOVE_ITEM headers Strata.hpp Strata_KokkosKernelsPreconditioner.hpp)
list(LENGTH headers num_headers)
if(num_headers LESS 35)
  message(FATAL_ERROR "only ${num_headers} public headers are known")
endif()
file(STRINGS ${source_dir}/core/Strata.hpp lines REGEX "^#include ")
list(TRANSFORM lines REPLACE "^#include <(.*)>$" "\\1" OUTPUT_VARIABLE included)
set(missing ${headers})
list(REMOVE_ITEM missing ${included})
set(unknown ${included})
list(REMOVE_ITEM unknown ${headers})
if(missing OR unknown)
  message(FATAL_ERROR
    "core/Strata.hpp lacks: ${missing}\nit includes what is no public header: ${unknown}")
endif()
message("core/Strata.hpp includes all ${num_headers} public headers")
