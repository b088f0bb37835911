// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>
#include <Strata_Colouring.hpp>
#include <cmath>
#include <kernels/factorization/colours/TwoColourBlocks.hpp>
#include <map>

#include "HermitianMatrix.hpp"

namespace {

/// z = U^-1 L^-1 r by a plain elimination in the order of colours.
template <class Scalar>
std::vector<std::complex<double>> reference(const HostMatrix<Scalar>& A,
                                            const std::vector<int>& old_row,
                                            const std::vector<Scalar>& r) {
  const std::int64_t n = A.rows;
  std::vector<int> place(n);
  for (std::int64_t p = 0; p < n; ++p) place[old_row[p]] = static_cast<int>(p);
  std::vector<std::map<int, std::complex<double>>> row(n);
  for (std::int64_t i = 0; i < n; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      row[place[i]][place[A.entries[k]]] = wide(A.values[k]);
  std::vector<std::complex<double>> z(n);
  for (int p = 0; p < n; ++p) {
    z[p] = wide(r[old_row[p]]);
    for (auto& [q, l] : row[p]) {
      if (q >= p) break;
      l /= row[q][q];
      for (const auto& [j, u] : row[q])
        if (j > q && row[p].count(j)) row[p][j] -= l * u;
      z[p] -= l * z[q];
    }
  }
  for (int p = static_cast<int>(n) - 1; p >= 0; --p) {
    for (const auto& [q, u] : row[p])
      if (q > p) z[p] -= u * z[q];
    z[p] /= row[p][p];
  }
  std::vector<std::complex<double>> given(n);
  for (std::int64_t p = 0; p < n; ++p) given[old_row[p]] = z[p];
  return given;
}

template <class Scalar>
class TwoColourBlocks : public testing::Test {};
TYPED_TEST_SUITE(TwoColourBlocks, Scalars);

TYPED_TEST(TwoColourBlocks, AgreeWithPlainElimination) {
  using Scalar = TypeParam;
  using Factor = Strata::Detail::TwoColourFactor<Crs<Scalar>>;
  const Device exec;
  const double tolerance = sizeof(RealOf<Scalar>) == 4 ? 1e-4 : 1e-12;
  // The last has a colour of one row, which is long.
  for (const std::string spec : {"grid3d:9", "grid2d:31", "diagonal:50",
                                 "chain:1", "chain:999", "arrow:3000"}) {
    SCOPED_TRACE(spec);
    auto host = hermitian<Scalar>(spec);
    const auto A = host.template to_device<Crs<Scalar>>();
    const auto colouring = Strata::colour_rows(exec, A);
    Strata::Detail::TwoColourBlocks<Scalar, Device> M(
        exec, Factor(exec, A, colouring, true));
    EXPECT_EQ(M.colours(), colouring.num_colours());
    const auto old_row = on_host(colouring.permutation.old_row);
    const auto r = random_vector<Scalar>(host.rows);
    const auto expect = [&](const auto& z) {
      const auto found = on_host(z);
      const auto wanted = reference(host, old_row, on_host(r));
      double largest = 0;
      for (const auto& v : wanted) largest = std::max(largest, std::abs(v));
      for (std::int64_t i = 0; i < host.rows; ++i)
        ASSERT_LE(std::abs(wide(found[i]) - wanted[i]), tolerance * largest)
            << "row " << i;
    };
    const auto apply = [&](const auto& from, const auto& to) {
      M.apply(exec, Strata::Detail::strided_block(from),
              Strata::Detail::strided_block(to));
      exec.fence();
    };
    const Vector<Scalar> z("z", host.rows);
    apply(r, z);
    expect(z);
    {  // Strided and in place: the same bits.
      const Kokkos::View<Scalar**, Kokkos::LayoutRight, Device> block(
          "block", host.rows, 3);
      const auto column = Kokkos::subview(block, Kokkos::ALL(), 1);
      Kokkos::deep_copy(column, r);
      apply(column, column);
      EXPECT_EQ(on_host(column), on_host(z));
    }
    for (std::int64_t i = 0; i < host.rows; ++i) host.at(i, i) *= Scalar(1.5);
    M.update_values(exec, Factor(exec, host.template to_device<Crs<Scalar>>(),
                                 colouring, true));
    apply(r, z);
    expect(z);
  }
}

}  // namespace
