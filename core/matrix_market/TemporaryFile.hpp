// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_MARKET_TEMPORARY_FILE_HPP
#define STRATA_CORE_MATRIX_MARKET_TEMPORARY_FILE_HPP

#include <stdlib.h>
#include <unistd.h>

#include <Strata_Error.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

namespace Strata {
namespace Detail {

/// A new file that only this user can read, in the system's folder for
/// temporary files (TMPDIR); removed with the object.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::error_code error;
    const auto folder = std::filesystem::temp_directory_path(error);
    path_ = (folder / "strata-XXXXXX.mtx").string();
    if (error) fail("has no folder: " + error.message());
    const int descriptor = ::mkstemps(path_.data(), 4);
    if (descriptor < 0) fail_with_reason("can't be created");
    stream_ = ::fdopen(descriptor, "w");
    if (stream_) return;
    const int reason = errno;
    ::close(descriptor);
    std::remove(path_.c_str());
    errno = reason;
    fail_with_reason("can't be opened");
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (stream_) std::fclose(stream_);
    std::remove(path_.c_str());
  }

  const std::string& path() const { return path_; }

  void write(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size())
      fail_with_reason("can't be written");
  }

  /// Nothing can be written after this; what was is in the file.
  void close() {
    std::FILE* stream = stream_;
    stream_ = nullptr;
    if (stream && std::fclose(stream) != 0)
      fail_with_reason("can't be written");
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw FileError(path_, problem,
                    "set TMPDIR to a writable folder with room for the "
                    "uncompressed matrix");
  }
  [[noreturn]] void fail_with_reason(const std::string& problem) const {
    fail(problem + " (" + std::strerror(errno) + ")");
  }

  std::string path_;
  std::FILE* stream_ = nullptr;
};

}  // namespace Detail
}  // namespace Strata

#endif
