// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_REPORTER_HPP
#define STRATA_PERF_REPORTER_HPP

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Passes everything on to another reporter, and benchmarks by the name they
/// were registered with: Google Benchmark appends how the time was taken.
class PlainNames : public benchmark::BenchmarkReporter {
 public:
  /// `reporter` is not owned.
  explicit PlainNames(benchmark::BenchmarkReporter* reporter)
      : reporter_(reporter) {}

  bool ReportContext(const Context& context) override {
    reporter_->SetOutputStream(&GetOutputStream());
    reporter_->SetErrorStream(&GetErrorStream());
    return reporter_->ReportContext(context);
  }
  void ReportRuns(const std::vector<Run>& report) override {
    std::vector<Run> runs = report;
    for (Run& run : runs) run.run_name.time_type.clear();
    reporter_->ReportRuns(runs);
  }
  void Finalize() override { reporter_->Finalize(); }

 private:
  benchmark::BenchmarkReporter* reporter_;
};

/// Runs what is registered. `json_file`: --benchmark_out asks for JSON; the
/// library's own reporter serves any other request.
inline void run_benchmarks(bool json_file) {
  PlainNames display(benchmark::CreateDefaultDisplayReporter());
  benchmark::JSONReporter json;
  PlainNames file(&json);
  benchmark::RunSpecifiedBenchmarks(&display, json_file ? &file : nullptr);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
