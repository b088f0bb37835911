// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_GZIP_LINES_HPP
#define STRATA_GALLERY_GZIP_LINES_HPP

#include <sys/stat.h>
#include <zlib.h>

#include <Strata_Error.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

/// Lines of a text file, gzip'd or not, with their numbers.
class GzipLines {
 public:
  explicit GzipLines(const std::string& path)
      : path_(path), file_(::gzopen(path.c_str(), "rb")), buffer_(1 << 17) {
    if (!file_)
      throw FileError(path,
                      std::string("can't be opened (") +
                          (errno ? std::strerror(errno) : "no memory") + ")",
                      "check the name and the permissions");
    ::gzbuffer(file_.get(), 1 << 17);
    struct stat status;
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    // Two bits stand for 258 bytes of text at the most.
    constexpr std::int64_t most_deflated = 1032;
    const auto size = static_cast<std::int64_t>(status.st_size);
    const std::int64_t each = ::gzdirect(file_.get()) ? 1 : most_deflated;
    most_text_ = size < INT64_MAX / each ? size * each : INT64_MAX;
  }

  /// One-based number of the line that next() gave last.
  std::int64_t number() const { return number_; }

  /// Bytes that are left after that line, or more: a file can't hold more text
  /// than its size lets it. The largest number where it is no file on a disk.
  std::int64_t most_text_left() const {
    return most_text_ == INT64_MAX
               ? INT64_MAX
               : std::max<std::int64_t>(0, most_text_ - taken_);
  }

  /// Gives the next line without its end; false at the end of the file.
  /// Raises FileError if the file can't be read or decompressed, and for a line
  /// of more than 64 MiB.
  bool next(std::string& line) {
    line.clear();
    bool any = false;
    for (;;) {
      if (at_ == end_) {
        const int got = ::gzread(file_.get(), buffer_.data(),
                                 static_cast<unsigned>(buffer_.size()));
        check(got);
        at_ = 0;
        end_ = static_cast<std::size_t>(got);
        if (got == 0) {
          if (any) ++number_;
          return any;
        }
      }
      any = true;
      const char* start = buffer_.data() + at_;
      const auto* stop =
          static_cast<const char*>(std::memchr(start, '\n', end_ - at_));
      line.append(start, stop ? stop : buffer_.data() + end_);
      if (line.size() > std::size_t{1} << 26)
        throw FileError(path_, "the line has more than 64 MiB",
                        "check that it is a text file", number_ + 1);
      const std::size_t from = at_;
      at_ = stop ? static_cast<std::size_t>(stop - buffer_.data()) + 1 : end_;
      taken_ += static_cast<std::int64_t>(at_ - from);
      if (stop) break;
    }
    if (!line.empty() && line.back() == '\r') line.pop_back();
    ++number_;
    return true;
  }

 private:
  struct Close {
    void operator()(gzFile file) const { ::gzclose(file); }
  };

  void check(int got) {
    int code = Z_OK;
    const char* message = ::gzerror(file_.get(), &code);
    // A compressed stream that stops early gives its last bytes, then an empty
    // read with Z_BUF_ERROR.
    if (got >= 0 && (code == Z_OK || code == Z_STREAM_END)) return;
    const bool system = code == Z_ERRNO || code == Z_OK;
    throw FileError(path_,
                    std::string("can't be read or decompressed (") +
                        (system ? std::strerror(errno) : message) + ")",
                    "get an undamaged copy of the file", number_ + 1);
  }

  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::int64_t number_ = 0, most_text_ = INT64_MAX, taken_ = 0;
};

}  // namespace Detail
}  // namespace Strata

#endif
