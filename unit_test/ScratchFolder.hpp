// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SCRATCHFOLDER_HPP
#define STRATA_SCRATCHFOLDER_HPP

#include <stdlib.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace Strata {

/// A folder for the files of this program.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "strata-test-XXXXXX")
            .string();
    if (!::mkdtemp(pattern.data()))
      throw std::runtime_error("no folder for temporary files");
    folder_ = pattern;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }

  const std::filesystem::path& folder() const { return folder_; }
  std::string path() const { return (folder_ / "matrix.mtx").string(); }
  /// @return the path
  std::string write(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  /// The bytes of a gzip file of that text.
  std::string compressed(const std::string& text) const {
    const std::string path = (folder_ / "matrix.gz").string();
    const gzFile file = ::gzopen(path.c_str(), "wb");
    ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    ::gzclose(file);
    return contents(path);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace Strata

#endif
