// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// New values of an IncompleteFactorization are factorised without an analysis.
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <string>
#include <vector>

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

TEST(FactorizationUpdates, DoNotAnalyseAgain) {
  using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
  const auto A = Strata::gallery<Crs>(Device(), "triangulated:23x17");
  constexpr auto* patterns = "Strata::IncompleteLu::fill::patterns";
  constexpr auto* eliminate = "Strata::IncompleteLu::eliminate";
  Strata::IncompleteFactorization<double, Device> M;
  {
    const KernelLabels labels;
    M = {Device(), A, Strata::Factorization::incomplete_lu};
    EXPECT_EQ(labels.count(eliminate), 1);
    EXPECT_EQ(labels.count(patterns), 1);
  }
  const KernelLabels labels;
  M.update_values(Device(), A);
  EXPECT_EQ(labels.count(eliminate), 1);
  for (const char* of_analysis :
       {patterns, "Strata::TriangleGraph", "Level", "tasks"})
    EXPECT_EQ(labels.count(of_analysis), 0) << of_analysis;
}

}  // namespace
