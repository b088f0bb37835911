// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A test of Kokkos Kernels, edited by scripts/test kokkos_kernels, for
// one scalar and all ordinals and offsets.
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

// The fixture and the device by the names which the test has for them: up to
// release 3 the one, later the other.
class TestCategory : public testing::Test {};
using TestExecSpace = Kokkos::DefaultExecutionSpace;
using TestDevice = Kokkos::DefaultExecutionSpace;

// What the tests of later releases have included before.
#if __has_include(<KokkosSparse_IOUtils.hpp>)
#include <KokkosKernels_TestUtils.hpp>
#include <KokkosSparse_IOUtils.hpp>
#include <KokkosSparse_SortCrs.hpp>
#endif
#if __has_include(<Test_vector_fixtures.hpp>)
#include <Test_vector_fixtures.hpp>
#endif
#include STRATA_TEST_SOURCE

// Release 3 has macros for these, which would be expanded before they become
// part of a test's name.
#undef kokkos_complex_double
#undef kokkos_complex_float
using kokkos_complex_double = Kokkos::complex<double>;
using kokkos_complex_float = Kokkos::complex<float>;

// Expands the scalar before the test's macro makes it part of a name.
#define STRATA_TEST(SCALAR, ORDINAL, OFFSET) \
  STRATA_TEST_MACRO(SCALAR, ORDINAL, OFFSET, TestDevice)
STRATA_TEST(STRATA_TEST_SCALAR, int, int)
STRATA_TEST(STRATA_TEST_SCALAR, int64_t, int)
STRATA_TEST(STRATA_TEST_SCALAR, int, size_t)
STRATA_TEST(STRATA_TEST_SCALAR, int64_t, size_t)
