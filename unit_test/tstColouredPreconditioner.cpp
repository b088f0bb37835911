// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>
#include <Strata_Colouring.hpp>
#include <cmath>
#include <kernels/krylov/ColouredSolves.hpp>
#include <kernels/krylov/ColouredSweeps.hpp>
#include <map>

#include "HermitianMatrix.hpp"

namespace {

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

/// Hands the sum on, or says that nothing is to be done.
struct KeepSum {
  static constexpr bool wanted = true;
  double* kept;
  bool runs;
  KOKKOS_INLINE_FUNCTION bool running() const { return runs; }
  KOKKOS_INLINE_FUNCTION void take(double part, bool first, bool) const {
    *kept = first ? part : *kept + part;
  }
};

/// Adds what was left to be added up to `to`.
struct AddUp {
  Strata::Detail::LateSums left;
  double* to;
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    double sum[1] = {0};
    left.grid_sum.add_up(team, left.blocks, sum, left.used_extra);
    if (team.team_rank() == 0) *to += sum[0];
  }
};
void add_up(const Strata::Detail::LateSums& left, double* to) {
  if (left.blocks > 0 || left.used_extra > 0)
    Strata::Detail::run_teams<1>("add_up", Device(), 1, AddUp{left, to});
}

template <class Scalar>
class ColouredFactors : public testing::Test {};
TYPED_TEST_SUITE(ColouredFactors, Scalars);

/// @param make          preconditioner of a ColouredFactor
/// @param apply_summing apply(M, r, z, sum), which adds r^H z to a sum of 0
template <class Scalar, class Make, class ApplySumming>
void expect_plain_elimination(const std::vector<std::string>& specs,
                              const Make& make,
                              const ApplySumming& apply_summing) {
  using Factor = Strata::Detail::ColouredFactor<Crs<Scalar>>;
  const Device exec;
  const double tolerance =
      sizeof(Strata::Detail::RealOf<Scalar>) == 4 ? 1e-4 : 1e-12;
  for (const auto& spec : specs) {
    auto host = hermitian<Scalar>(spec);
    const auto A = host.template to_device<Crs<Scalar>>();
    const auto colouring = Strata::colour_rows(exec, A);
    auto M = make(Factor(exec, A, colouring, true));
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
    {  // With r^H z: the same vector, and the same bits of the sum.
      const Kokkos::View<double*, Device> sum("sum", 1);
      const Vector<Scalar> with("with", host.rows);
      const auto wanted = on_host(z), given = on_host(r);
      double product = 0, size = 0;
      for (std::int64_t i = 0; i < host.rows; ++i) {
        product += Strata::Detail::real_product(given[i], wanted[i]);
        size += std::abs(wide(given[i])) * std::abs(wide(wanted[i]));
      }
      double first = 0;
      for (int turn = 0; turn < 3; ++turn) {
        Kokkos::deep_copy(sum, 0.0);
        apply_summing(M, r, with, KeepSum{sum.data(), true});
        exec.fence();
        EXPECT_EQ(on_host(with), wanted) << spec;
        const double found = on_host(sum)[0];
        if (turn == 0) first = found;
        EXPECT_EQ(found, first) << spec << ": not the same bits";
        EXPECT_NEAR(found, product, 1e-13 * size) << spec;
      }
    }
    for (std::int64_t i = 0; i < host.rows; ++i) host.at(i, i) *= Scalar(1.5);
    M.update_values(exec, Factor(exec, host.template to_device<Crs<Scalar>>(),
                                 colouring, true));
    M.apply(exec, r, z);
    exec.fence();
    expect(z);
  }
}

Strata::Detail::GridSum<Device::memory_space> make_sum() {
  return {Strata::Detail::resident_blocks(Device(),
                                          Strata::Detail::most_blocks_at_once) *
              Strata::Detail::uneven_blocks,
          0};
}

TYPED_TEST(ColouredFactors, SweepsAgreeWithPlainElimination) {
  const auto first = make_sum(), second = make_sum();
  expect_plain_elimination<TypeParam>(
      {"grid3d:9", "triangulated:17x12", "circuit:700", "diagonal:50",
       "chain:1", "grid3d27:5"},
      [](const auto& factor) {
        return Strata::Detail::ColouredSweeps<TypeParam, Device>(Device(),
                                                                 factor);
      },
      [&](const auto& M, const auto& r, const auto& z, const KeepSum& sum) {
        if (M.colours() > 2) return M.apply(Device(), r, z, sum, first);
        for (const auto& left :
             M.apply_leaving_sums(Device(), r, z, sum, first, second))
          add_up(left, sum.kept);
      });
}

TYPED_TEST(ColouredFactors, SolvesAgreeWithPlainElimination) {
  for (const int merged_levels : {0, 1, 3})
    expect_plain_elimination<TypeParam>(
        {"grid3d:9", "triangulated:17x12", "circuit:700", "diagonal:50",
         "chain:1", "grid3d27:5", "arrow:3000"},
        [&](const auto& factor) {
          return Strata::Detail::ColouredSolves<TypeParam, Device>(
              Device(), factor, merged_levels);
        },
        [](const auto& M, const auto& r, const auto& z, const KeepSum& sum) {
          add_up(M.apply(Device(), r, z, sum), sum.kept);
        });
}

TEST(ColouredFactor, SumsOfManyPartsAreTheSame) {
  const Device exec;
  const auto A = hermitian<double>("grid2d:400").to_device<Crs<double>>();
  const Strata::Detail::ColouredSolves<double, Device> M(
      exec, Strata::Detail::ColouredFactor<Crs<double>>(
                exec, A, Strata::colour_rows(exec, A), true));
  const auto r = random_vector<double>(A.numRows());
  const Vector<double> z("z", A.numRows()), with("with", A.numRows());
  const Kokkos::View<double*, Device> sum("sum", 1);
  M.apply(exec, r, z);
  const auto left = M.apply(exec, r, with, KeepSum{sum.data(), true});
  exec.fence();
  EXPECT_EQ(left.used_extra, 0);
  const auto given = on_host(r), made = on_host(z);
  EXPECT_EQ(on_host(with), made);
  double product = 0, size = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    product += given[i] * made[i];
    size += std::abs(given[i] * made[i]);
  }
  EXPECT_NEAR(on_host(sum)[0], product, 1e-12 * size);
}

TYPED_TEST(ColouredFactors, SolvesThatAreNotToRunLeaveAllAsItIs) {
  using Scalar = TypeParam;
  const Device exec;
  const auto A =
      hermitian<Scalar>("circuit:2000").template to_device<Crs<Scalar>>();
  const Strata::Detail::ColouredSolves<Scalar, Device> M(
      exec, Strata::Detail::ColouredFactor<Crs<Scalar>>(
                exec, A, Strata::colour_rows(exec, A), true));
  const auto r = random_vector<Scalar>(A.numRows());
  const Vector<Scalar> z("z", A.numRows()), again("again", A.numRows());
  const Kokkos::View<double*, Device> sum("sum", 1);
  Kokkos::deep_copy(sum, -3.0);
  M.apply(exec, r, z);
  M.apply(exec, r, again, KeepSum{sum.data(), false});
  exec.fence();
  EXPECT_EQ(on_host(sum)[0], -3.0);
  M.apply(exec, r, again);
  exec.fence();
  EXPECT_EQ(on_host(again), on_host(z));
}

}  // namespace
