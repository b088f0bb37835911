// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <unistd.h>

#include <Strata_BandMatrix.hpp>
#include <Strata_BandSolver.hpp>
#include <Strata_MatrixMarket.hpp>
#include <Strata_MatrixMarketArray.hpp>
#include <fstream>
#include <limits>
#include <string>

#include "BandMatrix.hpp"
#include "RandomSeed.hpp"

namespace Strata {
namespace BandTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Band = HostBand<double>;
using View = Kokkos::View<double**, Kokkos::LayoutLeft, Memory>;
using Solver = BandSolver<double, Space>;

/// 2 on the diagonal, -1 beside it: dominant, with sums that equal it.
Band second_difference(int n) {
  Band A(n, 1, 1);
  for (int i = 0; i < n; ++i) {
    A(i, i) = 2;
    if (i > 0) A(i, i - 1) = -1;
    if (i + 1 < n) A(i, i + 1) = -1;
  }
  return A;
}

Solver make(const Band& A,
            const BandOptions& options = SolverTest::band_options()) {
  return Solver(Space(), to_band_view<double, Space>(A), A.kl, A.ku, options);
}
BandOptions by(BandMethod method, bool require_dominance = true) {
  BandOptions options = SolverTest::band_options();
  options.method = method;
  options.require_dominance = require_dominance;
  return options;
}
const BandMethod without_pivoting[] = {BandMethod::tiles,
                                       BandMethod::nested_dissection};

template <class Fault, class F>
void expect_row(std::int64_t row, const F& f) {
  try {
    f();
    ADD_FAILURE() << "no error";
  } catch (const Fault& error) {
    EXPECT_EQ(error.row(), row) << error.what();
    EXPECT_NE(error.problem().find(std::to_string(row)), std::string::npos)
        << error.what();
    EXPECT_FALSE(error.remedy().empty());
  }
}

TEST(BandSolver, RefusesNegativeNumbersOfDiagonals) {
  for (const int n : {0, 2}) {
    EXPECT_THROW(Solver(Space(), View("ab", 1, n), -1, 1), BandwidthError);
    EXPECT_THROW(Solver(Space(), View("ab", 1, n), 1, -1), BandwidthError);
  }
}

TEST(BandSolver, RefusesNumbersOfDiagonalsThatStorageDoesNotHave) {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t k : {std::int64_t{3}, largest / 2, largest})
    for (const int n : {0, 2}) {
      EXPECT_THROW(Solver(Space(), View("ab", 3, n), k, k), SizeMismatchError);
      EXPECT_THROW(Solver(Space(), View("ab", 3, n), k, 0), SizeMismatchError);
      EXPECT_THROW(Solver(Space(), View("ab", 3, n), 0, k), SizeMismatchError);
    }
}

TEST(BandSolver, RefusesStorageThatIsNotOfTheBand) {
  for (int rows : {0, 2, 5, 7})
    EXPECT_THROW(Solver(Space(), View("ab", rows, 9), 1, 1), SizeMismatchError)
        << rows;
}

TEST(BandSolver, RefusesOptionsThatCantBeHonoured) {
  const auto A = second_difference(100);
  BandOptions options = SolverTest::band_options();
  options.max_right_hand_sides = -1;
  EXPECT_THROW(make(A, options), OptionError);
  options = {};
  options.tile = 48;
  EXPECT_THROW(make(A, options), OptionError);
  options = {};
  for (double share : {-1.0, 1.0, std::nan("")}) {
    options.smallest_pivot = share;
    EXPECT_THROW(make(A, options), OptionError) << share;
  }
}

TEST(BandSolver, AcceptsEmptyMatricesAndNoRightHandSides) {
  const Space exec;
  const View x("x", 0, 3);
  for (const int k : {0, 1, 4}) {
    const Solver solver(exec, View("ab", 2 * k + 1, 0), k, k);
    solver.solve(exec, x, x);
    EXPECT_EQ(solver.report().lower, 0);
  }
  const Solver other = make(second_difference(3));
  const View none("none", 3, 0);
  other.solve(exec, none, none);
  const Kokkos::View<double***, Kokkos::LayoutLeft, Memory> no_system("ab", 3,
                                                                      4, 0),
      no_vector("x", 4, 1, 0);
  const Solver batch(exec, no_system, 1, 1);
  batch.solve(exec, no_vector, no_vector);
  exec.fence();
}

TEST(BandSolver, RefusesVectorsOfOtherSizes) {
  const Space exec;
  const Solver solver = make(second_difference(10));
  const View b("b", 10, 2), longer("x", 11, 2), wider("x", 10, 3);
  EXPECT_THROW(solver.solve(exec, b, longer), SizeMismatchError);
  EXPECT_THROW(solver.solve(exec, longer, b), SizeMismatchError);
  EXPECT_THROW(solver.solve(exec, b, wider), SizeMismatchError);
  const View shifted(b.data() + 1, 9, 2);
  const Solver smaller = make(second_difference(9));
  EXPECT_THROW(smaller.solve(exec, View(b.data(), 9, 2), shifted), AliasError);
  const Kokkos::View<double**, Kokkos::LayoutStride, Memory> one(
      longer.data(), Kokkos::LayoutStride(10, 1, 2, 0));
  EXPECT_THROW(solver.solve(exec, b, one), AliasError);
  const Kokkos::View<double***, Kokkos::LayoutLeft, Memory> two("b", 10, 1, 2);
  EXPECT_THROW(solver.solve(exec, two, two), SizeMismatchError);
}

/// b and x of rank 1, 2 and 3 between each other's elements are solved for;
/// with an element in common they are refused, and nothing is written.
TEST(BandSolver, TellsInterleavedVectorsFromSharedElements) {
  const Space exec;
  const int n = 70;
  const Band A = second_difference(n);
  std::mt19937 random(random_seed());
  const auto numbers = random_vector<double>(n * 6, random);
  const Kokkos::View<double* [6], Kokkos::LayoutRight, Memory> block("b", n);
  const auto host = Kokkos::create_mirror_view(block);
  const auto fill = [&] {
    for (int i = 0; i < 6 * n; ++i) host.data()[i] = numbers[i];
    Kokkos::deep_copy(block, host);
  };
  const auto column = [&](int c) {
    return Kokkos::subview(block, Kokkos::ALL, c);
  };
  const auto columns = [&](int c, int count) {
    return Kokkos::subview(block, Kokkos::ALL, std::make_pair(c, c + count));
  };
  // Columns of x where b's columns are `from` on; the others stay.
  const auto expect_solved = [&](int from, int to, int count) {
    const auto now =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), block);
    std::vector<double> x, b;
    for (int c = 0; c < 6; ++c)
      for (int i = 0; i < n; ++i) {
        if (c >= to && c < to + count) {
          x.push_back(now(i, c));
          b.push_back(numbers[6 * i + c - to + from]);
        } else {
          EXPECT_EQ(now(i, c), numbers[6 * i + c]);
        }
      }
    EXPECT_LE(A.backward_error(x, b), tolerance<double>());
  };
  for (const auto method : {BandMethod::tiles, BandMethod::nested_dissection,
                            BandMethod::partial_pivoting}) {
    SCOPED_TRACE(to_string(method));
    const Solver solver = make(A, by(method));
    fill();
    solver.solve(exec, column(4), column(1));
    expect_solved(4, 1, 1);
    fill();
    solver.solve(exec, columns(0, 3), columns(3, 3));
    expect_solved(0, 3, 3);
    fill();
    EXPECT_THROW(solver.solve(exec, columns(0, 3), columns(2, 3)), AliasError);
    EXPECT_THROW(solver.solve(exec, columns(1, 2), columns(0, 2)), AliasError);
    expect_solved(0, 0, 0);  // nothing was written
  }

  fill();
  // Systems side by side: the same, of rank 3.
  using Batch = Kokkos::View<double***, Kokkos::LayoutStride, Memory>;
  const auto systems = [&](int c) {
    return Batch(block.data() + c, Kokkos::LayoutStride(n, 6, 1, 1, 2, 3));
  };
  const Solver two(exec, to_band_views<double, Space>({A, A}), 1, 1);
  two.solve(exec, systems(0), systems(1));  // 0 and 3 to 1 and 4
  const auto now =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), block);
  for (const int to : {1, 4}) {
    std::vector<double> x, b;
    for (int i = 0; i < n; ++i) {
      x.push_back(now(i, to));
      b.push_back(numbers[6 * i + to - 1]);
    }
    EXPECT_LE(A.backward_error(x, b), tolerance<double>());
  }
  EXPECT_THROW(two.solve(exec, systems(0),
                         Batch(block.data() + 2,
                               Kokkos::LayoutStride(n, 6, 1, 1, 2, 1))),
               AliasError);
}

TEST(BandSolver, DominanceByRowsOrColumnsIsEnough) {
  for (const auto method : without_pivoting) {
    EXPECT_NO_THROW(make(second_difference(90), by(method)));
    // Row 40 is too heavy: columns decide. Then a column too.
    auto A = second_difference(90);
    A(39, 39) = A(41, 41) = 4;
    A(40, 39) = A(40, 41) = -2.5;
    EXPECT_NO_THROW(make(A, by(method)));
    A(60, 61) = -3;
    expect_row<DominanceError>(40, [&] { make(A, by(method)); });
    EXPECT_NO_THROW(make(A, by(method, false)));
    EXPECT_NO_THROW(make(A, by(BandMethod::partial_pivoting)));
  }
}

/// Moduli decide, not the sums of parts that are looked at first.
TEST(BandSolver, DominanceOfComplexMatricesIsThatOfModuli) {
  using Complex = Kokkos::complex<double>;
  for (const int side : {1, 3, 12}) {
    HostBand<Complex> A(60, side, side);
    for (int i = 0; i < A.n; ++i)
      for (int j = 0; j < A.n; ++j)
        if (A.holds(i, j))
          A(i, j) = i == j ? Complex(0, 10 * side) : Complex(3, i < j ? 4 : -4);
    const auto make_complex = [&] {
      return BandSolver<Complex, Space>(Space(),
                                        to_band_view<Complex, Space>(A), side,
                                        side, SolverTest::band_options());
    };
    EXPECT_NO_THROW(make_complex());
    // By rows alone, and by neither rows nor columns.
    A(20, 20) = A(20, 20) * 1.01;
    A(20, 21) = A(20, 21) * 1.005;
    EXPECT_NO_THROW(make_complex());
    A(40, 40) = A(40, 40) * 0.999;
    expect_row<DominanceError>(40, make_complex);
  }
}

/// Narrow bands, and wide ones: the matrix is looked at in other ways.
TEST(BandSolver, FindsTheFaultsOfBandsOfAllWidths) {
  for (const int side : {1, 5, 9, 40, 70}) {
    SCOPED_TRACE(side);
    const int n = 150;
    Band A(n, side, side);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (A.holds(i, j)) A(i, j) = i == j ? 2 * side + 1 : -1;
    EXPECT_NO_THROW(make(A));
    for (const int row : {0, 75, n - 1}) {
      for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        const double kept = A(row, row);
        A(row, row) = bad;
        expect_row<FactorizationError>(row, [&] { make(A); });
        expect_row<FactorizationError>(
            row, [&] { make(A, by(BandMethod::partial_pivoting)); });
        A(row, row) = kept;
      }
      // A column of zeros is dominated, and leaves no pivot.
      auto singular = A;
      for (int i = 0; i < n; ++i) {
        if (A.holds(i, row)) singular(i, row) = 0;
      }
      expect_row<FactorizationError>(
          row, [&] { make(singular, by(BandMethod::partial_pivoting)); });
      for (int j = 0; j < n; ++j) {
        if (A.holds(row, j)) singular(row, j) = 0;
      }
      expect_row<FactorizationError>(row, [&] { make(singular); });
    }
    A(75, 75) = side;
    expect_row<DominanceError>(75, [&] { make(A); });
    EXPECT_NO_THROW(make(A, by(BandMethod::partial_pivoting)));
  }
}

/// The sum of a column overflows, its values do not.
TEST(BandSolver, TakesColumnsWhoseSumsAreBeyondTheRangeOfNumbers) {
  auto A = second_difference(50);
  A(30, 30) = 1.6e308;
  A(29, 30) = A(31, 30) = 0.7e308;
  A(29, 29) = A(31, 31) = 1e308;
  EXPECT_NO_THROW(make(A));
  EXPECT_NO_THROW(make(A, by(BandMethod::partial_pivoting)));
}

/// Sums of rows overflow, in a matrix with a row and a column that are not
/// dominated.
TEST(BandSolver, RefusesRowsWhoseSumsAreBeyondTheRangeOfNumbers) {
  Band A(5, 1, 1);
  A(0, 0) = 0.4e308;
  A(0, 1) = 0.2e308;
  A(1, 0) = 0.3e308;
  A(1, 1) = 0.95e308;
  A(1, 2) = 0.8e308;
  A(2, 2) = 0.85e308;
  A(3, 3) = 1;
  A(4, 3) = 2;
  A(4, 4) = 3;
  EXPECT_THROW(make(A), DominanceError);
}

TEST(BandSolver, RefusesPivotsThatVanish) {
  for (const auto method : without_pivoting)
    for (const int row : {0, 1, 31, 32, 63, 64, 98}) {
      // Rows `row` and `row` + 1 form a block of ones.
      Band A(100, 1, 1);
      for (int i = 0; i < 100; ++i) A(i, i) = 1;
      A(row, row + 1) = A(row + 1, row) = 1;
      // Nested dissection ends with the second of the four blocks.
      const bool later_first =
          method == BandMethod::nested_dissection && row == 63;
      const int last = later_first ? row : row + 1;
      expect_row<FactorizationError>(last, [&] { make(A, by(method)); });
      expect_row<FactorizationError>(
          row + 1, [&] { make(A, by(BandMethod::partial_pivoting)); });
      // Near to zero is not zero.
      A(row + 1, row + 1) = 1 + 1e-10;
      EXPECT_NO_THROW(make(A, by(method)));
      auto options = by(method);
      options.smallest_pivot = 1e-8;
      expect_row<FactorizationError>(last, [&] { make(A, options); });
    }
}

/// The same where the solver chooses the method.
TEST(BandSolver, RefusesSmallPivotsOfAnyMethodThatIsChosen) {
  for (const int side : {1, 12, 70})
    for (const int row : {0, 31, 98}) {
      Band A(100, side, side);
      for (int i = 0; i < 100; ++i) A(i, i) = 1;
      A(row, row + 1) = A(row + 1, row) = 1;
      A(row + 1, row + 1) = 1 + 1e-10;
      auto options = SolverTest::band_options();
      EXPECT_NO_THROW(make(A, options));
      options.smallest_pivot = 1e-8;
      EXPECT_THROW(make(A, options), FactorizationError);
    }
}

TEST(BandSolver, RefusesPivotsBeyondTheRangeOfNumbers) {
  for (const auto method : {BandMethod::tiles, BandMethod::partial_pivoting}) {
    Band A(2, 1, 1);
    A(0, 0) = 1;
    A(1, 0) = -1;
    A(0, 1) = A(1, 1) = 1.7e308;
    expect_row<FactorizationError>(1, [&] { make(A, by(method, false)); });
  }
  Band A(3, 1, 1);
  for (int i = 0; i < 3; ++i) A(i, i) = 1;
  A(1, 1) = 1e-310;
  expect_row<FactorizationError>(
      1, [&] { make(A, by(BandMethod::partial_pivoting)); });
}

/// What such a pivot spoils is in rows before and after its own where rows are
/// eliminated in another order.
TEST(BandSolver, NamesTheRowOfAPivotWithoutReciprocal) {
  const int n = 460;
  for (const auto method : without_pivoting)
    for (const int tile : {32, 64})
      for (const int side : {1, 30})
        for (const int row : {0, 1, 31, 64, 127, 128, 200, 333, n - 1}) {
          SCOPED_TRACE(std::string(to_string(method)) + ", tile " +
                       std::to_string(tile) + ", side " + std::to_string(side));
          Band A(n, side, side);
          for (int i = 0; i < n; ++i) A(i, i) = 1;
          Band B = A;
          B(row, row) = 1e-310;
          auto options = by(method);
          options.tile = tile;
          expect_row<FactorizationError>(row, [&] { make(B, options); });
          try {
            Solver(Space(), to_band_views<double, Space>({A, B, A}), side, side,
                   options);
            ADD_FAILURE() << "no error";
          } catch (const FactorizationError& error) {
            EXPECT_EQ(error.row(), row);
            EXPECT_NE(error.problem().find("of system 1"), std::string::npos)
                << error.what();
          }
        }
}

/// Of two rows that don't need each other, the first is named.
TEST(BandSolver, NamesTheFirstOfTwoPivotsOfDifferentFaults) {
  for (const bool small_first : {true, false}) {
    Band A(300, 0, 0);
    for (int i = 0; i < 300; ++i) A(i, i) = 1;
    A(20, 20) = small_first ? 0 : 1e-310;
    A(200, 200) = small_first ? 1e-310 : 0;
    expect_row<FactorizationError>(20, [&] { make(A, by(BandMethod::tiles)); });
  }
}

TEST(BandSolver, RowsOfOtherScalesAreNoSmallPivots) {
  for (const auto method : without_pivoting) {
    auto A = second_difference(100);
    for (int j = 0; j < 100; ++j)
      for (int i = std::max(0, j - 1); i <= std::min(99, j + 1); ++i)
        A(i, j) *= std::pow(10.0, i % 2 ? 30 : -30);
    EXPECT_NO_THROW(make(A, by(method)));
  }
}

TEST(BandSolver, RefusesValuesThatAreNotFinite) {
  for (const auto method : {BandMethod::tiles, BandMethod::nested_dissection,
                            BandMethod::partial_pivoting})
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      auto A = second_difference(70);
      A(45, 44) = bad;
      expect_row<FactorizationError>(45, [&] { make(A, by(method)); });
      A = second_difference(70);
      A(45, 45) = bad;
      expect_row<FactorizationError>(45, [&] { make(A, by(method)); });
    }
}

TEST(BandSolver, ARefusedUpdateLeavesNoFactors) {
  const Space exec;
  auto A = second_difference(50);
  Solver solver = make(A);
  const View x("x", 50, 1);
  EXPECT_THROW(solver.update_values(exec, View("ab", 3, 49)),
               SizeMismatchError);
  solver.solve(exec, x, x);
  A(7, 7) = 0;
  EXPECT_THROW(solver.update_values(exec, to_band_view<double, Space>(A)),
               DominanceError);
  Kokkos::deep_copy(x, 5.0);
  EXPECT_THROW(solver.solve(exec, x, x), HandleError);
  const auto kept = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(kept(i, 0), 5.0);
  A(7, 7) = 3;
  solver.update_values(exec, to_band_view<double, Space>(A));
  EXPECT_NO_THROW(solver.solve(exec, x, x));
  exec.fence();
}

/// No other process has it: the program runs beside itself, too.
class File {
 public:
  explicit File(const std::string& text)
      : path_(testing::TempDir() + "/strata_band_errors_" +
              std::to_string(getpid()) + ".mtx") {
    std::ofstream(path_) << text;
  }
  ~File() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(BandMatrix, RefusesArrayFilesThatAreNotWhatTheySay) {
  const std::string banner = "%%MatrixMarket matrix array real general\n";
  const auto line_of = [](const std::string& text) -> std::int64_t {
    const File file(text);
    try {
      read_matrix_market_array(file.path());
    } catch (const FileError& error) {
      EXPECT_FALSE(error.remedy().empty());
      return error.line();
    }
    return 0;
  };
  EXPECT_EQ(line_of(banner + "2 1\n1\n2\n"), 0);
  EXPECT_EQ(line_of("2 1\n1\n2\n"), 1);
  EXPECT_EQ(line_of("%%MatrixMarket matrix coordinate real general\n1 1 1\n"),
            1);
  EXPECT_EQ(line_of("%%MatrixMarket matrix array complex general\n1 1\n"), 1);
  EXPECT_EQ(line_of("%%MatrixMarket matrix array real symmetric\n1 1\n"), 1);
  EXPECT_EQ(line_of(banner + "% note\n2 x\n"), 3);
  EXPECT_EQ(line_of(banner + "-2 1\n"), 2);
  EXPECT_EQ(line_of(banner + "9999999999999 9999999999999\n1\n"), 2);
  // More than the file can hold, and just as much.
  EXPECT_EQ(line_of(banner + "1000 1000\n1\n2\n"), 2);
  EXPECT_EQ(line_of(banner + "%\n3 1\n1\n2"), 3);
  EXPECT_EQ(line_of(banner + "3 1\n1\n2\n3"), 0);
  EXPECT_EQ(line_of(banner + "2 1\n1\nnan\n"), 4);
  EXPECT_EQ(line_of(banner + "2 1\n1\n2 3\n"), 4);
  EXPECT_EQ(line_of(banner + "1 1\n1" + std::string(1, '\0') + "2\n"), 3);
  EXPECT_NE(line_of(banner + "2 1\n1\n"), 0);
  EXPECT_THROW(read_matrix_market_array("absent.mtx"), FileError);
}

TEST(BandMatrix, IsReadAsItWasWritten) {
  const File file("");
  HostArray array("array", 3, 2);
  for (int i = 0; i < 6; ++i) array(i % 3, i / 3) = std::exp(i) / 3;
  write_matrix_market_array(file.path(), array);
  const auto again = read_matrix_market_array(file.path());
  ASSERT_EQ(again.extent(0), 3u);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(again(i % 3, i / 3), array(i % 3, i / 3));
  EXPECT_THROW(write_matrix_market_array("/nowhere/x.mtx", array), FileError);
}

TEST(BandMatrix, HoldsTheBandOfASparseMatrix) {
  using Crs = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
  const File file(
      "%%MatrixMarket matrix coordinate real general\n"
      "4 4 7\n1 1 4\n2 2 5\n3 3 6\n4 4 7\n3 1 -1\n1 2 2\n4 2 -3\n");
  const auto band = band_matrix(Space(), read_matrix_market<Crs>(file.path()));
  EXPECT_EQ(band.kl, 2);
  EXPECT_EQ(band.ku, 1);
  const auto ab =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), band.ab);
  ASSERT_EQ(ab.extent(0), 4u);
  const double expected[4][4] = {
      {4, 2, 0, 0}, {0, 5, 0, 0}, {-1, 0, 6, 0}, {0, -3, 0, 7}};
  for (int i = 0; i < 4; ++i)
    for (int j = std::max(0, i - 2); j <= std::min(3, i + 1); ++j)
      EXPECT_EQ(ab(1 + i - j, j), expected[i][j]);
  EXPECT_NO_THROW(Solver(Space(), band.ab, band.kl, band.ku));
}

}  // namespace
}  // namespace BandTest
}  // namespace Strata
