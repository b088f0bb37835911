// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elimination by fronts with a GPU's team, lane by lane on a host.
#include <gtest/gtest.h>

#include <EmulatedDevice.hpp>

#include "../FrontCases.hpp"

namespace {

using namespace Strata;
using FrontCases::Case;
using Scalars = testing::Types<float, double, Kokkos::complex<float>,
                               Kokkos::complex<double>>;

/// An emulated team with scratch.
struct TeamWithScratch : Emulation::TeamOfDevice {
  struct Scratch {
    void* memory;
    void* get_shmem(std::size_t) const { return memory; }
  };
  void* memory;
  Scratch team_scratch(int) const { return {memory}; }
};

template <class Scalar>
typename Case<Scalar>::Factors by_fronts(const Case<Scalar>& of) {
  return of.template by_fronts<Emulation::Device>([&](const auto& kernel) {
    // Nobody relies on what scratch holds.
    std::vector<double> memory(kernel.scratch_bytes / sizeof(double) + 1, -7.5);
    Emulation::Team::run(
        kernel.threads,
        [&](int rank) {
          kernel(TeamWithScratch{{rank, kernel.threads}, memory.data()});
        },
        unsigned(generator()()));
  });
}

template <class Scalar>
class FrontsOnLanes : public testing::Test {};
TYPED_TEST_SUITE(FrontsOnLanes, Scalars);

TYPED_TEST(FrontsOnLanes, FactoriseCompletePatterns) {
  for (const int size : {1, 3})
    for (const auto& [name, rows] : FrontCases::patterns(size)) {
      SCOPED_TRACE(name + " of size " + std::to_string(size));
      const Case<TypeParam> of(rows);
      const auto made = by_fronts(of);
      EXPECT_EQ(made.fault, Detail::no_fault);
      of.expect_factors(made);
      of.expect_same_bits(made, by_fronts(of));
    }
}

TYPED_TEST(FrontsOnLanes, FindFaults) {
  for (const auto& [name, rows] : FrontCases::patterns(2)) {
    SCOPED_TRACE(name);
    Case<TypeParam> of(rows);
    const auto [row, column] = of.random_entry();
    of.at(row, column) =
        TypeParam(RealOf<TypeParam>(std::numeric_limits<double>::infinity()));
    EXPECT_EQ(by_fronts(of).fault, of.by_rows().fault);
    for (const int c : rows[row])
      if (c <= row) of.at(row, c) = TypeParam(0);
    EXPECT_EQ(by_fronts(of).fault, of.by_rows().fault);
  }
}

TYPED_TEST(FrontsOnLanes, ReplaceSmallPivots) {
  using Real = RealOf<TypeParam>;
  for (const auto& [name, rows] : FrontCases::patterns(2)) {
    SCOPED_TRACE(name);
    Case<TypeParam> of(rows);
    of.set_least(Real(0.5));
    for (int row = 0; row < of.rows(); ++row) {
      if (generator()() % 8 != 0) continue;
      for (const int column : rows[row])
        if (column < row) of.at(row, column) = TypeParam(0);
      of.at(row, row) = TypeParam(0.25);
    }
    const auto made = by_fronts(of), wanted = of.by_rows();
    EXPECT_EQ(made.fault, Detail::no_fault);
    EXPECT_EQ(made.replaced, wanted.replaced);
    EXPECT_EQ(made.change, wanted.change);
  }
}

}  // namespace
