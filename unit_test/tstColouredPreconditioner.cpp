// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>

#include <Strata_Colouring.hpp>
#include <cmath>
#include <detail/Strata_ColouredSweeps.hpp>
#include <map>

#include "HermitianMatrix.hpp"

namespace {

using Device = Kokkos::DefaultExecutionSpace;
template <class Scalar>
using Crs = KokkosSparse::CrsMatrix<Scalar, int, Device, void, int>;
template <class Scalar>
using Vector = Kokkos::View<Scalar*, Device>;

TEST(Colouring, NoEntryIsWithinAColour) {
  const Device exec;
  // The last has too many levels for the order of the rows.
  const std::map<std::string, int> expected{
      {"grid3d:9", 2},  {"grid2d:30", 2},  {"diagonal:77", 1},
      {"chain:100", 2}, {"grid3d27:6", 8}, {"circuit:900", 0},
      {"chain:1", 1},   {"arrow:3000", 2}, {"chain:25000", 0}};
  for (const auto& [spec, colours] : expected) {
    const auto host = hermitian<double>(spec);
    const auto A = host.to_device<Crs<double>>();
    const auto found = Strata::colour_rows(exec, A);
    const auto colour = on_host(found.colour_of);
    const auto old_row = on_host(found.permutation.old_row);
    const auto new_row = on_host(found.permutation.new_row);
    EXPECT_LE(found.num_colours(), spec == "chain:25000" ? 3 : 16) << spec;
    if (colours > 0) {
      EXPECT_EQ(found.num_colours(), colours) << spec;
    }
    for (std::int64_t i = 0; i < host.rows; ++i)
      for (auto k = host.row_map[i]; k < host.row_map[i + 1]; ++k)
        ASSERT_TRUE(host.entries[k] == i ||
                    colour[host.entries[k]] != colour[i])
            << spec << " row " << i;
    ASSERT_EQ(found.colour_map.back(), host.rows);
    for (int c = 0; c < found.num_colours(); ++c) {
      ASSERT_LT(found.colour_map[c], found.colour_map[c + 1]);
      for (auto p = found.colour_map[c]; p < found.colour_map[c + 1]; ++p) {
        ASSERT_EQ(colour[old_row[p]], c);
        ASSERT_EQ(new_row[old_row[p]], p);
        ASSERT_TRUE(p == found.colour_map[c] || old_row[p - 1] < old_row[p]);
      }
    }
    EXPECT_EQ(on_host(Strata::colour_rows(exec, A).colour_of), colour);
  }
  EXPECT_EQ(Strata::colour_rows(exec, Crs<double>()).num_colours(), 0);
}

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
class ColouredFactors : public testing::Test {};
using Scalars = testing::Types<float, double, Kokkos::complex<float>,
                               Kokkos::complex<double>>;
TYPED_TEST_SUITE(ColouredFactors, Scalars);

TYPED_TEST(ColouredFactors, AgreeWithPlainElimination) {
  using Scalar = TypeParam;
  using Factor = Strata::Detail::ColouredFactor<Crs<Scalar>>;
  const Device exec;
  const double tolerance =
      sizeof(Strata::Detail::RealOf<Scalar>) == 4 ? 1e-4 : 1e-12;
  for (const auto* spec : {"grid3d:9", "triangulated:17x12", "circuit:700",
                           "diagonal:50", "chain:1", "grid3d27:5"}) {
    auto host = hermitian<Scalar>(spec);
    const auto A = host.template to_device<Crs<Scalar>>();
    const auto colouring = Strata::colour_rows(exec, A);
    Strata::Detail::ColouredSweeps<Scalar, Device> M(
        exec, Factor(exec, A, colouring, true));
    const auto old_row = on_host(colouring.permutation.old_row);
    const auto r = random_vector<Scalar>(host.rows);
    const auto expect = [&](const auto& z) {
      const auto found = on_host(z);
      const auto wanted = reference(host, old_row, on_host(r));
      double largest = 0;
      for (const auto& v : wanted) largest = std::max(largest, std::abs(v));
      for (std::int64_t i = 0; i < host.rows; ++i)
        ASSERT_LE(std::abs(wide(found[i]) - wanted[i]), tolerance * largest)
            << spec << " row " << i;
    };
    const Vector<Scalar> z("z", host.rows);
    M.apply(exec, r, z);
    exec.fence();
    expect(z);
    {  // Strided and in place: the same bits.
      const Kokkos::View<Scalar**, Kokkos::LayoutRight, Device> block(
          "block", host.rows, 3);
      const auto column = Kokkos::subview(block, Kokkos::ALL(), 1);
      Kokkos::deep_copy(column, r);
      M.apply(exec, column, column);
      exec.fence();
      EXPECT_EQ(on_host(column), on_host(z)) << spec;
    }
    for (std::int64_t i = 0; i < host.rows; ++i)
      *const_cast<Scalar*>(host.find(i, i)) *= Scalar(1.5);
    M.update_values(exec, Factor(exec, host.template to_device<Crs<Scalar>>(),
                                 colouring, true));
    M.apply(exec, r, z);
    exec.fence();
    expect(z);
  }
}

}  // namespace
