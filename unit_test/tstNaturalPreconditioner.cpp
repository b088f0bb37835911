// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IncompletePreconditioner in the natural order: new values on a known pattern.
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_Preconditioner.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "HostMatrix.hpp"
#include "RandomSeed.hpp"

namespace {

namespace Tools = Kokkos::Tools::Experimental;
using Device = Kokkos::DefaultExecutionSpace;

/// The labels of kernels, from construction to destruction. One at a time.
class KernelLabels {
 public:
  KernelLabels() : before_(Tools::get_callbacks()) {
    labels().clear();
    const auto note = [](const char* name, const std::uint32_t,
                         std::uint64_t*) { labels().push_back(name); };
    Tools::set_begin_parallel_for_callback(note);
    Tools::set_begin_parallel_reduce_callback(note);
    Tools::set_begin_parallel_scan_callback(note);
  }
  ~KernelLabels() { Tools::set_callbacks(before_); }
  KernelLabels(const KernelLabels&) = delete;
  KernelLabels& operator=(const KernelLabels&) = delete;

  /// Kernels with `part` in their label.
  int count(const std::string& part) const {
    int found = 0;
    for (const auto& label : labels())
      found += label.find(part) != std::string::npos;
    return found;
  }

 private:
  // Callbacks can't carry state.
  static std::vector<std::string>& labels() {
    static std::vector<std::string> all;
    return all;
  }
  Tools::EventSet before_;
};

template <class Scalar>
struct NaturalPreconditioner : testing::Test {
  using Crs = KokkosSparse::CrsMatrix<Scalar, int, Device, void, int>;
  using Preconditioner = Strata::IncompletePreconditioner<Scalar, Device>;

  NaturalPreconditioner()
      : pattern(Strata::gallery<Crs>(Device(), "triangulated:23x17")) {}

  /// New values with a dominant diagonal.
  HostMatrix<Scalar> random_values() {
    HostMatrix<Scalar> made = pattern;
    std::uniform_real_distribution<double> value(-1, 1);
    for (std::int64_t i = 0; i < made.rows; ++i)
      for (auto k = made.row_map[i]; k < made.row_map[i + 1]; ++k)
        made.values[k] =
            Scalar(made.entries[k] == i ? 9 + value(random) : value(random));
    return made;
  }
  static Preconditioner factorise(const HostMatrix<Scalar>& A) {
    return Preconditioner(Device(), A.template to_device<Crs>(),
                          Strata::Factorization::incomplete_lu, {},
                          Strata::FactorOrder::natural);
  }
  std::vector<Scalar> applied(const Preconditioner& M) const {
    const Kokkos::View<Scalar*, Device> r("r", pattern.rows),
        z("z", pattern.rows);
    Kokkos::deep_copy(r, Scalar(1));
    M.apply(Device(), r, z);
    Kokkos::fence();
    const auto host =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), z);
    return {host.data(), host.data() + host.extent(0)};
  }

  std::mt19937 random{Strata::random_seed()};
  HostMatrix<Scalar> pattern;
};
using Scalars = testing::Types<float, double, Kokkos::complex<float>,
                               Kokkos::complex<double>>;
TYPED_TEST_SUITE(NaturalPreconditioner, Scalars);

TYPED_TEST(NaturalPreconditioner, UpdatesGiveTheBitsOfANewOne) {
  using Crs = typename TestFixture::Crs;
  auto M = this->factorise(this->random_values());
  for (int time = 0; time < 4; ++time) {
    const auto values = this->random_values();
    M.update_values(Device(), values.template to_device<Crs>());
    EXPECT_EQ(this->applied(M), this->applied(this->factorise(values)));
  }
}

TYPED_TEST(NaturalPreconditioner, ARefusedUpdateKeepsTheOldValues) {
  using Crs = typename TestFixture::Crs;
  auto M = this->factorise(this->random_values());
  const auto before = this->applied(M);
  const auto refused = [&](const auto& bad, auto error, std::int64_t row) {
    try {
      M.update_values(Device(), bad.template to_device<Crs>());
      ADD_FAILURE() << "taken";
    } catch (const decltype(error)& caught) {
      EXPECT_EQ(caught.row(), row);
    }
    EXPECT_EQ(this->applied(M), before);
  };
  const Strata::FactorizationError factorization("", "", "", 0);
  auto bad = this->random_values();
  bad.values[bad.row_map[100]] = std::nan("");
  refused(bad, factorization, 100);
  // Row 1 less row 0 has nothing left on the diagonal.
  bad = this->random_values();
  const auto next = bad.entries[bad.row_map[0] + 1];
  bad.at(next, 0) = bad.at(0, 0);
  bad.at(next, next) = bad.at(0, next);
  refused(bad, factorization, next);
  bad = this->random_values();
  bad.at(7, 7) = 0;
  refused(bad, Strata::ZeroDiagonalError("", "", "", 0), 7);
  bad = this->random_values();
  bad.entries[bad.row_map[1] - 1] += 1;  // the last entry of row 0
  refused(bad, Strata::PatternMismatchError("", "", ""), -1);

  const auto good = this->random_values();
  M.update_values(Device(), good.template to_device<Crs>());
  EXPECT_EQ(this->applied(M), this->applied(this->factorise(good)));
}

TYPED_TEST(NaturalPreconditioner, UpdatesDoNotAnalyseAgain) {
  using Crs = typename TestFixture::Crs;
  auto M = this->factorise(this->random_values());
  const auto A = this->random_values().template to_device<Crs>();
  const KernelLabels labels;
  M.update_values(Device(), A);
  EXPECT_EQ(labels.count("Strata::IncompleteLu::eliminate"), 1);
  for (const char* of_analysis : {"Strata::IncompleteLu::fill::patterns",
                                  "Strata::TriangleGraph", "Level", "tasks"})
    EXPECT_EQ(labels.count(of_analysis), 0) << of_analysis;
}

TYPED_TEST(NaturalPreconditioner, DoesNotTakeEnqueuedUpdates) {
  using Crs = typename TestFixture::Crs;
  const auto A = this->random_values().template to_device<Crs>();
  Strata::TriangularOptions options;
  options.enqueue_updates = true;
  for (const auto order :
       {Strata::FactorOrder::natural, Strata::FactorOrder::automatic}) {
    try {
      const typename TestFixture::Preconditioner M(
          Device(), A, Strata::Factorization::incomplete_lu, options, order);
      ADD_FAILURE() << "taken";
    } catch (const Strata::OptionError& error) {
      EXPECT_EQ(error.argument(), "enqueue_updates");
      EXPECT_NE(error.remedy().find("IncompleteFactorization"),
                std::string::npos);
    }
  }
}

TYPED_TEST(NaturalPreconditioner, ANewOneIsAnalysed) {
  // What the test before looks for is there to be found.
  const auto A = this->random_values();
  const KernelLabels labels;
  this->factorise(A);
  EXPECT_EQ(labels.count("Strata::IncompleteLu::eliminate"), 1);
  EXPECT_EQ(labels.count("Strata::IncompleteLu::fill::patterns"), 1);
}

}  // namespace
