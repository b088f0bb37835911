# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Sets `found` in the caller's scope where there is a LAPACK with 32-bit integers whose
# functions have the names that core/lapack/Lapack.hpp declares.
function(strata_find_lapack found)
  set(${found} OFF PARENT_SCOPE)
  find_package(LAPACK QUIET)
  if(NOT LAPACK_FOUND)
    message(STATUS "Strata: no LAPACK, so hosts' band and dense solvers do without")
    return()
  endif()
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES LAPACK::LAPACK)
  check_cxx_source_compiles("
    extern \"C\" {
    void dgbtrf_();
    void zgbtrs_();
    void cgetrf_();
    void sgetrs_();
    void dlaswp_();
    void ztrsm_();
    void dgemm_();
    }
    int main() {
      dgbtrf_(); zgbtrs_(); cgetrf_(); sgetrs_(); dlaswp_(); ztrsm_(); dgemm_();
    }" Strata_LAPACK_LINKS)
  if(Strata_LAPACK_LINKS)
    set(${found} ON PARENT_SCOPE)
  else()
    message(STATUS "Strata: the LAPACK in ${LAPACK_LIBRARIES} lacks functions such as "
      "dgbtrf_, so hosts' band and dense solvers do without")
  endif()
endfunction()
