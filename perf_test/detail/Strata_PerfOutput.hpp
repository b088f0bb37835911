// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_OUTPUT_HPP
#define STRATA_PERF_OUTPUT_HPP

#include <Strata_Error.hpp>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <detail/Strata_PerfTable.hpp>
#include <fstream>
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
  if (out) {
    errno = 0;
    out.flush();
  }
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
/// anything is measured: a file that can't be written is told then.
template <class Result>
class TableFile {
 public:
  /// @param path empty: there is to be none. @throws FileError
  TableFile(const std::string& path, Columns<Result> columns)
      : path_(path), columns_(std::move(columns)), header_(text({})) {
    rewrite({});
  }
  /// Lines of more results. @throws FileError
  void append(const std::vector<Result>& results) {
    if (path_.empty()) return;
    file_ << text(results).substr(header_.size());
    require();
  }
  /// The header and lines of these results alone. @throws FileError
  void rewrite(const std::vector<Result>& results) {
    if (path_.empty()) return;
    file_ = std::ofstream(path_);
    // Keeps the reason.
    if (file_) file_ << text(results);
    require();
  }

 private:
  std::string text(const std::vector<Result>& results) const {
    std::ostringstream out;
    write_csv(out, columns_, results);
    return out.str();
  }
  void require() {
    require_written(file_, path_,
                    "check the path given to --table, and the space there");
  }

  std::string path_;
  Columns<Result> columns_;
  std::string header_;
  std::ofstream file_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
