// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_OUTPUT_HPP
#define STRATA_PERF_OUTPUT_HPP

#include <Strata_Error.hpp>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// That all that was written to `out` has arrived. @throws FileError
inline void require_written(std::ostream& out, const std::string& name,
                            const std::string& remedy) {
  errno = 0;
  out.flush();
  if (out) return;
  const int reason = errno;
  throw FileError(
      name,
      "can't be written" +
          (reason ? std::string(" (") + std::strerror(reason) + ")" : ""),
      remedy);
}

/// The same of a stream that people read.
inline void require_printed(std::ostream& people) {
  require_written(people,
                  &people == &std::cout ? "standard output" : "standard error",
                  "send it to where there is room");
}

/// The CSV file of --table. It is opened, and its header written, before
/// anything is measured: a file that can't be written is told then. What ends
/// the program early loses the line of the measurement under way alone.
template <class Result>
class TableFile {
 public:
  /// The header, and a line for each result.
  using Write = std::function<void(std::ostream&, const std::vector<Result>&)>;

  /// @param path empty: there is to be none. @throws FileError
  TableFile(const std::string& path, Write write)
      : path_(path), write_(std::move(write)) {
    if (path_.empty()) return;
    header_ = text({});
    open();
  }
  /// Lines of more results. @throws FileError
  void append(const std::vector<Result>& results) {
    if (path_.empty()) return;
    file_ << text(results).substr(header_.size());
    require();
  }
  /// Lines of the results before `next`, which is about to be measured.
  /// @param results all of them @throws FileError
  void append_before(const std::vector<Result>& results, const Result& next) {
    const auto end = static_cast<std::size_t>(&next - results.data());
    if (end < written_) out_of_order_ = true;
    append_until(results, end);
  }
  /// Lines of the others, and once more all of them where
  /// --benchmark_enable_random_interleaving has mixed them.
  void append_rest(const std::vector<Result>& results) {
    if (out_of_order_ && !path_.empty()) {
      file_.close();
      open();
      written_ = 0;
    }
    append_until(results, results.size());
  }

 private:
  void open() {
    errno = 0;
    file_.open(path_);
    // Keeps the reason.
    if (file_) file_ << header_;
    require();
  }
  void append_until(const std::vector<Result>& results, std::size_t end) {
    if (end <= written_) return;
    const auto from = [&](std::size_t index) {
      return results.begin() + static_cast<std::ptrdiff_t>(index);
    };
    append({from(written_), from(end)});
    written_ = end;
  }
  std::string text(const std::vector<Result>& results) const {
    std::ostringstream out;
    write_(out, results);
    return out.str();
  }
  void require() {
    require_written(file_, path_,
                    "check the path given to --table, and the space there");
  }

  std::string path_, header_;
  Write write_;
  std::ofstream file_;
  std::size_t written_ = 0;  ///< results that have had their lines
  bool out_of_order_ = false;
};

/// That a file may be written later: it is made where there is none, and left
/// as it is where there is one. @throws FileError
inline void require_writable(const std::string& path, const std::string& flag) {
  std::ofstream file(path, std::ios::app);
  if (!file)
    throw FileError(path, "can't be written",
                    "check the path given to " + flag);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
