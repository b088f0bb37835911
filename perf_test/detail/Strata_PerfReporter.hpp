// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_REPORTER_HPP
#define STRATA_PERF_REPORTER_HPP

#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <core/device/DeviceInfo.hpp>
#include <detail/Strata_PerfFlags.hpp>
#include <detail/Strata_PerfOutput.hpp>
#include <memory>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Passes everything on to another reporter, and benchmarks by the name they
/// were registered with: Google Benchmark appends how the time was taken and
/// how many iterations were asked for. A report that can't be written ends the
/// run with a FileError, before the first benchmark where its first line can't.
class PlainNames : public benchmark::BenchmarkReporter {
 public:
  /// `name`: where the report goes. `first_line`: if not empty, precedes it.
  PlainNames(std::unique_ptr<benchmark::BenchmarkReporter> reporter,
             std::string name, std::string first_line = {})
      : reporter_(std::move(reporter)),
        name_(std::move(name)),
        first_line_(std::move(first_line)) {}

  bool ReportContext(const Context& context) override {
    reporter_->SetOutputStream(&GetOutputStream());
    reporter_->SetErrorStream(&GetErrorStream());
    GetOutputStream() << first_line_;
    require();
    const bool go_on = reporter_->ReportContext(context);
    require();
    return go_on;
  }
  void ReportRuns(const std::vector<Run>& report) override {
    std::vector<Run> runs = report;
    for (Run& run : runs) {
      run.run_name.time_type.clear();
      run.run_name.iterations.clear();
    }
    reporter_->ReportRuns(runs);
    require();
  }
  void Finalize() override {
    reporter_->Finalize();
    require();
  }

 private:
  void require() {
    require_written(GetOutputStream(), name_,
                    "send the report to where there is room");
  }

  std::unique_ptr<benchmark::BenchmarkReporter> reporter_;
  std::string name_, first_line_;
};

/// Runs what is registered. The file of --benchmark_out is written in JSON or
/// for people; the library's own reporter serves any other request.
/// @throws FileError where a report can't be written
inline void run_benchmarks(const OutputFlags& output) {
  using Reporter = std::unique_ptr<benchmark::BenchmarkReporter>;
  PlainNames display(
      Reporter(benchmark::CreateDefaultDisplayReporter()), "standard output",
      output.display_for_people
          ? "device: " + Detail::device_name(Kokkos::DefaultExecutionSpace()) +
                '\n'
          : std::string());
  Reporter file;
  if (output.file_format == "json")
    file = std::make_unique<benchmark::JSONReporter>();
  if (output.file_format == "console")
    file = std::make_unique<benchmark::ConsoleReporter>(
        benchmark::ConsoleReporter::OO_None);
  const bool own = file != nullptr;
  PlainNames named(std::move(file), output.file);
  benchmark::RunSpecifiedBenchmarks(&display, own ? &named : nullptr);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
