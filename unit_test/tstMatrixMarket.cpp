// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <Strata_Gallery.hpp>
#include <Strata_MatrixMarket.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gallery/MatrixMarketImplementation.hpp>
#include <iomanip>
#include <sstream>

#include "HostMatrix.hpp"
#include "ScratchFolder.hpp"

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Complex = Kokkos::complex<double>;
template <class Scalar, class Ordinal = int, class Offset = int>
using Crs = KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, void, Offset>;

/// Has a folder of its own.
class MatrixMarket : public testing::Test {
 protected:
  std::string plain(const std::string& text) {
    const std::string path = (folder_ / "matrix").string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string gzipped(const std::string& text) {
    const std::string path = (folder_ / "matrix.mtx.gz").string();
    gzFile file = gzopen(path.c_str(), "wb");
    EXPECT_EQ(gzwrite(file, text.data(), text.size()),
              static_cast<int>(text.size()));
    gzclose(file);
    return path;
  }

  template <class Scalar = double>
  HostMatrix<Scalar> read(const std::string& text) {
    const HostMatrix<Scalar> from_plain(
        Strata::read_matrix_market<Crs<Scalar>>(plain(text)));
    const HostMatrix<Scalar> from_gzip(
        Strata::read_matrix_market<Crs<Scalar>>(gzipped(text)));
    EXPECT_EQ(from_plain.row_map, from_gzip.row_map);
    EXPECT_EQ(from_plain.entries, from_gzip.entries);
    EXPECT_EQ(from_plain.values, from_gzip.values);
    return from_plain;
  }

  template <class Scalar>
  void expect_matrix(const std::string& text,
                     const std::vector<std::int64_t>& row_map,
                     const std::vector<std::int64_t>& entries,
                     const std::vector<Scalar>& values) {
    const auto A = read<Scalar>(text);
    EXPECT_EQ(A.rows, static_cast<std::int64_t>(row_map.size()) - 1);
    EXPECT_EQ(A.columns, A.rows);
    EXPECT_EQ(A.row_map, row_map) << text;
    EXPECT_EQ(A.entries, entries) << text;
    EXPECT_EQ(A.values, values) << text;
  }

  template <class Error = Strata::FileError, class Matrix = Crs<double>>
  void expect_error(const std::string& text, const std::string& says) {
    for (const std::string& path : {plain(text), gzipped(text)}) try {
        Strata::read_matrix_market<Matrix>(path);
        ADD_FAILURE() << "read:\n" << text;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(says), std::string::npos)
            << error.what();
        EXPECT_EQ(error.argument(), path);
      }
  }

  const Strata::ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.folder();
};

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

TEST_F(MatrixMarket, WhatIsWrittenIsRead) {
  const HostMatrix<double> A(
      Strata::gallery<Crs<double>>(Device(), "circuit:500"));
  std::ostringstream text;
  text << general << "% a comment\n%\n"
       << A.rows << ' ' << A.rows << ' ' << A.entries.size() << '\n'
       << std::setprecision(17);
  // By columns, as files usually are.
  std::vector<std::ostringstream> columns(A.rows);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      columns[A.entries[k]] << std::setprecision(17) << i + 1 << ' '
                            << A.entries[k] + 1 << ' ' << A.values[k] << '\n';
  for (const auto& column : columns) text << column.str();
  expect_matrix<double>(text.str(), A.row_map, A.entries, A.values);

  const HostMatrix<float> wide(
      Strata::read_matrix_market<Crs<float, std::int64_t, std::size_t>>(
          plain(text.str())));
  EXPECT_EQ(wide.entries, A.entries);
  for (std::size_t k = 0; k < A.values.size(); ++k)
    ASSERT_EQ(wide.values[k], static_cast<float>(A.values[k]));
}

TEST_F(MatrixMarket, EveryFieldAndSymmetry) {
  expect_matrix<double>(general + "2 2 3\n2 1 -3.5\n1 1 0\n2 2 1e-3\n",
                        {0, 1, 3}, {0, 0, 1}, {0, -3.5, 1e-3});
  expect_matrix<double>(
      "%%MatrixMarket matrix coordinate integer symmetric\n"
      "3 3 3\n3 1 -7\n2 2 4\n1 1 +2\n",
      {0, 2, 3, 4}, {0, 2, 1, 0}, {2, -7, 4, -7});
  expect_matrix<double>(
      "%%MatrixMarket matrix coordinate pattern symmetric\n"
      "3 3 3\n1 1\n3 2\n2 1\n",
      {0, 2, 4, 5}, {0, 1, 0, 2, 1}, {1, 1, 1, 1, 1});
  expect_matrix<double>(
      "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 2\n",
      {0, 1, 2}, {1, 1}, {1, 1});
  expect_matrix<double>(
      "%%MatrixMarket matrix coordinate real skew-symmetric\n"
      "2 2 1\n2 1 3\n",
      {0, 1, 2}, {1, 0}, {-3, 3});
  expect_matrix<Complex>(
      "%%MatrixMarket matrix coordinate complex general\n"
      "2 2 2\n1 2 1.5 -2\n2 2 0 1\n",
      {0, 1, 2}, {1, 1}, {Complex(1.5, -2), Complex(0, 1)});
  expect_matrix<Complex>(
      "%%MatrixMarket matrix coordinate complex hermitian\n"
      "2 2 2\n1 1 3 0\n2 1 1 4\n",
      {0, 2, 3}, {0, 1, 0}, {Complex(3, 0), Complex(1, -4), Complex(1, 4)});
  expect_matrix<Complex>(
      "%%MatrixMarket matrix coordinate complex symmetric\n"
      "2 2 1\n2 1 1 4\n",
      {0, 1, 2}, {1, 0}, {Complex(1, 4), Complex(1, 4)});
  // Narrower fields into complex matrices.
  expect_matrix<Complex>(general + "1 1 1\n1 1 2.5\n", {0, 1}, {0},
                         {Complex(2.5, 0)});
  expect_matrix<Complex>(
      "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 2\n",
      {0, 1}, {0}, {Complex(2, 0)});
  expect_matrix<Complex>(
      "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", {0, 1},
      {0}, {Complex(1, 0)});
}

TEST_F(MatrixMarket, FreeFormsOfTheFormat) {
  expect_matrix<double>(
      "%%matrixmarket  MATRIX Coordinate\tDouble General  \r\n"
      "\r\n%c\r\n  % indented\r\n  2\t2 2 \r\n"
      "\n1 1 1.25D+1\r\n% between\r\n\n 2   2\t-2d0 \r\n\n%end\n",
      {0, 1, 2}, {0, 1}, {12.5, -2});
  // No end of the last line; a number below the smallest double.
  expect_matrix<double>(general + "1 1 1\n1 1 1e-400", {0, 1}, {0}, {0});
  expect_matrix<double>(general + "0 0 0\n", {0}, {}, {});
  expect_matrix<double>(general + "2 2 0\n", {0, 0, 0}, {}, {});
}

TEST_F(MatrixMarket, RepeatedEntriesAreLeftToTheMatrixCheck) {
  expect_matrix<double>(general + "1 1 2\n1 1 3\n1 1 3\n", {0, 2}, {0, 0},
                        {3, 3});
  // In a symmetric file they would be lost.
  const std::string symmetric =
      "%%MatrixMarket matrix coordinate real symmetric\n";
  expect_error(symmetric + "2 2 2\n2 1 3\n1 2 3\n",
               "line 4: the entry in row 1, column 2 is named twice or beside "
               "its mirror image");
  expect_error(symmetric + "%\n2 2 3\n2 1 3\n%\n1 1 1\n\n2 1 4\n",
               "line 8: the entry in row 1, column 2 is named twice");
  expect_error(symmetric + "2 2 3\n2 2 3\n2 2 3\n2 2 3\n",
               "line 4: the entry in row 2, column 2 is named twice");

  // What can't be read again has no line to name.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string text = symmetric + "2 2 2\n2 1 3\n1 2 3\n";
  ASSERT_EQ(write(ends[1], text.data(), text.size()),
            static_cast<ssize_t>(text.size()));
  close(ends[1]);
  try {
    Strata::read_matrix_market<Crs<double>>("/dev/fd/" +
                                            std::to_string(ends[0]));
    ADD_FAILURE() << "read";
  } catch (const Strata::FileError& error) {
    EXPECT_EQ(error.line(), -1);
    EXPECT_NE(error.problem().find("is named twice"), std::string::npos)
        << error.what();
  }
  close(ends[0]);
}

TEST_F(MatrixMarket, BannersThatCantBeReadAreErrors) {
  expect_error("", ": is empty");
  expect_error("1 1 1\n1 1 1\n", "line 1: does not begin with %%MatrixMarket");
  const std::string start = "%%MatrixMarket ";
  expect_error(start + "vector coordinate real general\n", "holds a 'vector'");
  expect_error(start + "matrix array real general\n1 1\n1\n",
               "format 'array' is not supported");
  expect_error(start + "matrix coordinate quaternion general\n",
               "field 'quaternion'");
  expect_error(start + "matrix coordinate real\n", "symmetry ''");
  expect_error(start + "matrix coordinate real lopsided\n",
               "symmetry 'lopsided'");
  expect_error(start + "matrix coordinate real general again\n", "sixth word");
  expect_error(start + "matrix coordinate real hermitian\n1 1 0\n",
               "can't be hermitian");
  expect_error(start + "matrix coordinate pattern skew-symmetric\n1 1 0\n",
               "can't be skew-symmetric");
  expect_error(start + "matrix coordinate complex general\n1 1 0\n",
               "complex values");
}

TEST_F(MatrixMarket, SizesThatCantBeReadAreErrors) {
  expect_error(general, "no line with the numbers");
  expect_error(general + "% only comments\n\n", "no line with the numbers");
  expect_error(general + "2\n", "line 2: the number of columns is missing");
  expect_error(general + "%\n2 2\n", "line 3: the number of entries");
  expect_error(general + "2 2 1 1\n", "'1' is one word too many");
  expect_error(general + "2 -2 1\n", "'-2' is not a whole number");
  expect_error(general + "2 2.0 1\n", "'2.0' is not a whole number");
  expect_error(general + "2 99999999999999999999 1\n", "too large");
  expect_error(general + "3 2 1\n1 1 1\n", "not square: 3 rows and 2 columns");
}

TEST_F(MatrixMarket, EntriesThatCantBeReadAreErrors) {
  const std::string two = general + "2 2 2\n% as much as two entries\n";
  expect_error(two, "ends after 0 of 2");
  expect_error(two + "1 1 1\n", "line 4: the file ends after 1 of 2");
  expect_error(two + "1 1 1\n2 2 1\n1 2 1\n", "line 6: there is text after");
  expect_error(two + "1 1 1\n0 2 1\n", "line 5: the row 0 is not in 1..2");
  expect_error(two + "1 3 1\n2 2 1\n", "line 4: the column 3 is not in 1..2");
  expect_error(two + "-1 1 1\n2 2 1\n", "row '-1' is not a whole number");
  expect_error(two + "1.0 1 1\n2 2 1\n", "row '1.0'");
  expect_error(two + "1 1\n2 2 1\n", "the value is missing");
  expect_error(two + "1\n2 2 1\n", "the column is missing");
  expect_error(two + "1 1 1 1\n2 2 1\n", "'1' is one word too many");
  for (const auto* bad : {"one", "nan", "inf", "-Inf", "0x10", "1e", "1.2.3",
                          "1,5", "--1", "1-", "."})
    expect_error(two + "1 1 " + bad + "\n2 2 1\n",
                 std::string("line 4: '") + bad + "' is not a finite number");
  expect_error(two + "1 1 1e999\n2 2 1\n", "'1e999' is too large");
  expect_error<Strata::FileError, Crs<float>>(two + "1 1 1e99\n2 2 1\n",
                                              "'1e99' is too large");
  const std::string start = "%%MatrixMarket matrix coordinate ";
  expect_error(start + "integer general\n1 1 1\n1 1 2.5\n",
               "'2.5' is not an integer");
  expect_error(start + "integer general\n1 1 1\n1 1 9223372036854775808\n",
               "does not fit 64 bits");
  expect_error(start + "pattern general\n1 1 1\n1 1 2\n", "one word too many");
  expect_error(start + "real skew-symmetric\n1 1 1\n1 1 2\n",
               "stores a diagonal entry");
  expect_error<Strata::FileError, Crs<Complex>>(
      start + "complex general\n1 1 1\n%%%\n1 1 2\n", "the value is missing");
  expect_error<Strata::FileError, Crs<Complex>>(
      start + "complex hermitian\n1 1 1\n1 1 2 1\n", "complex diagonal entry");
}

TEST_F(MatrixMarket, IndexTypesTooNarrowAreErrors) {
  using Strata::IndexOverflowError;
  expect_error<IndexOverflowError>(general + "2147483648 2147483648 0\n",
                                   "ordinal type");
  expect_error<IndexOverflowError>(general + "9 9 2147483648\n", "offset type");
  expect_error<IndexOverflowError>(
      "%%MatrixMarket matrix coordinate real symmetric\n9 9 1073741824\n",
      "2 times 1073741824");
}

TEST_F(MatrixMarket, SizesThatTheFileCantHoldAreErrors) {
  using Wide = Crs<double, std::int64_t, std::int64_t>;
  // Gzip may make a thousand bytes of one, and no more.
  const std::string room = "the rest of the file has room for";
  expect_error<Strata::FileError, Wide>(
      general + "9 9 1000000\n1 1 1\n",
      "line 2: states 1000000 entries, and " + room);
  expect_error<Strata::FileError, Wide>(
      general + "%\n9 9 4611686018427387904\n1 1 1\n", "line 3: states");
  for (const auto* field : {"real", "integer", "pattern"}) {
    const std::string entry = std::string(field) == "pattern" ? "1 1" : "1 1 1";
    const std::string start =
        std::string("%%MatrixMarket matrix coordinate ") + field + " general\n";
    // The shortest lines there are, the last without an end.
    std::string text = start + "1 1 50";
    for (int k = 0; k < 50; ++k) text += '\n' + entry;
    EXPECT_EQ(read<double>(text).entries.size(), 50u) << field;
    std::string more = text;
    more.replace(more.find("1 1 50"), 6, "1 1 51");
    try {
      Strata::read_matrix_market<Crs<double>>(plain(more));
      ADD_FAILURE() << "read";
    } catch (const Strata::FileError& error) {
      EXPECT_EQ(error.line(), 2);
      EXPECT_NE(std::string(error.what()).find("room for 50 at most"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST_F(MatrixMarket, RowsWithoutEntriesAreErrorsBeforeMemoryIsTaken) {
  using Wide = Crs<double, std::int64_t, std::int64_t>;
  for (const auto* rows : {"2000000000", "20000000"}) {
    const std::string size = std::string(rows) + " " + rows;
    for (const auto* entries : {" 1\n1 1 1.0\n", " 0\n"}) {
      expect_error(general + size + entries,
                   std::string("line 2: states ") + rows + " rows and only");
      expect_error<Strata::FileError, Wide>(general + size + entries,
                                            "entry for every 1000 of them");
    }
  }
  // What a file of that size may hold.
  const auto A = read<double>(general + "100000 100000 1\n99999 7 2.5\n");
  EXPECT_EQ(A.rows, 100000);
  EXPECT_EQ(A.row_map[99998], 0);
  EXPECT_EQ(A.row_map[99999], 1);
}

TEST_F(MatrixMarket, SizesBeyondTheMemoryAreErrors) {
  using Wide = Crs<double, std::int64_t, std::int64_t>;
  const auto path =
      plain(general + "50000000 50000000 50000\n" + std::string(300000, ' '));
  try {
    Strata::Detail::MarketCoordinates<double>(path,
                                              {INT32_MAX, INT32_MAX, 1e6});
    ADD_FAILURE() << "read";
  } catch (const Strata::FileError& error) {
    EXPECT_EQ(error.line(), 2);
    EXPECT_NE(error.problem().find("50000000 rows and 50000 entries take 765 "
                                   "MiB to read, and there are 0 MiB"),
              std::string::npos)
        << error.what();
  }
  EXPECT_GT(Strata::Detail::host_memory_bytes(), 1e6);

  // A limit that the system does not tell of beforehand.
  if (!std::is_same<Device::memory_space, Kokkos::HostSpace>::value)
    GTEST_SKIP() << "a device's driver reserves addresses";
  std::ifstream sizes("/proc/self/statm");
  rlim_t pages = 0;
  if (!(sizes >> pages)) GTEST_SKIP() << "no /proc";
  const auto large = plain(general + "16000000 16000000 1\n1 1 1\n");
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit limit = before;
  limit.rlim_cur =
      pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{50} << 20);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  std::string said;
  try {
    Strata::read_matrix_market<Wide>(large);
  } catch (const Strata::MemoryError& error) {
    said = error.what();
  } catch (const std::exception& error) {
    said = std::string("another exception: ") + error.what();
  }
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(said.find("Strata: memory: "), 0u) << said;
  EXPECT_NE(said.find(" in a matrix of 16000000 rows and 1 entries from " +
                      large + " can't be allocated"),
            std::string::npos)
      << said;
  EXPECT_EQ(HostMatrix<double>(Strata::read_matrix_market<Wide>(large)).rows,
            16000000);
}

TEST_F(MatrixMarket, LinesWithoutAnEndAreErrors) {
  const std::string endless(std::size_t{70} << 20, ' ');
  expect_error(general + endless, "line 2: the line has more than 64 MiB");
}

TEST_F(MatrixMarket, FilesThatCantBeReadAreErrors) {
  const auto fails = [](const std::string& path) {
    try {
      Strata::read_matrix_market<Crs<double>>(path);
      ADD_FAILURE() << path << " was read";
    } catch (const Strata::FileError& error) {
      EXPECT_EQ(error.argument(), path);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(fails((folder_ / "none.mtx").string()).find("can't be opened"),
            std::string::npos);
  fails(folder_.string());

  std::string text = general + "3000 3000 3000\n";
  for (int i = 1; i <= 3000; ++i)
    text += std::to_string(i) + " " + std::to_string(i) + " " +
            std::to_string(1. / i) + "\n";
  const std::string path = gzipped(text);
  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size / 2);
  EXPECT_NE(fails(path).find("decompressed"), std::string::npos);

  gzipped(text);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file << "damage";
  }
  fails(path);
}

}  // namespace
