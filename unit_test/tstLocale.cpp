// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_MatrixMarket.hpp>
#include <Strata_MatrixMarketArray.hpp>
#include <clocale>
#include <core/memory/MemoryErrors.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <locale>
#include <optional>
#include <sstream>

#include "HostMatrix.hpp"
#include "ScratchFolder.hpp"

// Numbers that are read or written do not follow the program's locale.

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Matrix = KokkosSparse::CrsMatrix<double, int, Device, void, int>;

/// A program with a locale that has a decimal comma, one that is installed or
/// else one that localedef makes.
class Locale : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("LOCPATH")) path_before_ = before;
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"})
      if (set(name)) return;
    const std::string made = path("de_DE.UTF-8");
    const std::string command =
        "localedef -i de_DE -f UTF-8 '" + made + "' >/dev/null 2>&1";
    // Warnings make a status that is not zero, too.
    [[maybe_unused]] const int status = std::system(command.c_str());
    setenv("LOCPATH", folder_.c_str(), 1);
    if (!set("de_DE.UTF-8"))
      GTEST_SKIP() << "no locale with a decimal comma is installed, and "
                      "localedef makes none";
  }
  void TearDown() override {
    std::locale::global(std::locale::classic());
    if (path_before_)
      setenv("LOCPATH", path_before_->c_str(), 1);
    else
      unsetenv("LOCPATH");
  }
  std::string path(const std::string& name) {
    return (folder_ / name).string();
  }

 private:
  /// Of C and C++.
  static bool set(const char* name) {
    try {
      std::locale::global(std::locale(name));
    } catch (const std::runtime_error&) {
      return false;
    }
    return std::localeconv()->decimal_point == std::string(",");
  }

  const Strata::ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.folder();
  std::optional<std::string> path_before_;
};

TEST_F(Locale, HasADecimalComma) {
  std::ostringstream text;
  text << 1.5;
  EXPECT_EQ(text.str(), "1,5");
  EXPECT_EQ(std::strtod("1,5", nullptr), 1.5);
}

TEST_F(Locale, MatrixMarketFilesHaveADecimalPoint) {
  const std::string start = "%%MatrixMarket matrix coordinate real general\n";
  std::ofstream(path("matrix")) << start + "2 2 2\n1 1 -2.75\n2 2 1.5D-1\n";
  const HostMatrix<double> A(
      Strata::read_matrix_market<Matrix>(path("matrix")));
  EXPECT_EQ(A.values, (std::vector<double>{-2.75, 0.15}));
  std::ofstream(path("comma")) << start + "1 1 1\n1 1 2,75\n";
  EXPECT_THROW(Strata::read_matrix_market<Matrix>(path("comma")),
               Strata::FileError);

  Strata::HostArray array("array", 1234, 1);
  for (int i = 0; i < 1234; ++i) array(i, 0) = 1234.5 + i / 3.;
  Strata::write_matrix_market_array(path("array"), array);
  const auto again = Strata::read_matrix_market_array(path("array"));
  ASSERT_EQ(again.extent(0), 1234u);
  for (int i = 0; i < 1234; ++i) ASSERT_EQ(again(i, 0), array(i, 0));
  // What reads has left the program its locale.
  EXPECT_EQ(std::strtod("1,5", nullptr), 1.5);
}

TEST_F(Locale, DensitiesOfTheGalleryHaveADecimalPoint) {
  const HostMatrix<double> A(
      Strata::gallery<Matrix>(Device(), "band:200:7:0.25"));
  EXPECT_LT(A.entries.size(), 1500u);
  EXPECT_THROW(Strata::gallery_name("band:200:7:0,25"), Strata::GalleryError);
}

TEST_F(Locale, SizesInKokkosMessagesAreRead) {
  for (const auto* size : {"1.5", "1,5"}) {
    const std::runtime_error error("Host memory space failed to allocate " +
                                   std::string(size) + " MiB (label=\"x\").");
    EXPECT_EQ(Strata::Detail::KokkosFailure(error).bytes(), 3u << 19) << size;
  }
}

}  // namespace
