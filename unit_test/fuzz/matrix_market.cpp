// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix Market files: valid ones in all ways of writing are read as a plain
// parser reads them; damaged ones give that answer or an exception of Strata's.
#include <Strata_MatrixMarket.hpp>
#include <Strata_MatrixMarketArray.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>

#include "../HostMatrix.hpp"
#include "../ScratchFolder.hpp"
#include "Driver.hpp"
#include "MarketParser.hpp"
#include "MarketText.hpp"
#include "Scalar.hpp"

namespace {

using namespace Strata::Fuzz;

/// What a file holds, as bytes.
struct File {
  /// The text that a right answer is of.
  std::string text;
  std::string bytes;
  bool damaged = false;
  std::string how;
};

File random_file(Random& random, const Strata::ScratchFolder& folder,
                 const std::string& text) {
  File file{text, text, random.chance(0.7), "plain"};
  const bool gzip = random.chance(0.3);
  if (file.damaged && !gzip) file.text = file.bytes = mutated(text, random);
  if (gzip) {
    file.bytes = folder.compressed(text);
    file.how = "gzip";
    // The text stays what it was: damage is found, or does no harm.
    if (file.damaged && random.chance(0.5)) {
      file.bytes = mutated(file.bytes, random);
    } else if (file.damaged) {
      file.text = mutated(text, random);
      file.bytes = folder.compressed(file.text);
    }
  }
  if (file.damaged) file.how += ", damaged";
  return file;
}

/// Entries as the plain parser gives them: rounded to the scalar, sorted.
template <class Scalar>
std::vector<MarketEntry> as_entries(const HostMatrix<Scalar>& A) {
  std::vector<MarketEntry> entries;
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      const std::complex<long double> value(widen(A.values[k]));
      entries.push_back({i, A.entries[k], static_cast<double>(value.real()),
                         static_cast<double>(value.imag())});
    }
  std::sort(entries.begin(), entries.end());
  return entries;
}
/// GCC 12 at -O3 leaves the rounding of the last entry out where the number
/// need not be stored.
template <class Real>
double rounded_number(double number) {
  const volatile Real stored = static_cast<Real>(number);
  return stored;
}
template <class Scalar>
std::vector<MarketEntry> rounded(std::vector<MarketEntry> entries) {
  for (auto& e : entries) {
    e.real = rounded_number<RealOf<Scalar>>(e.real);
    e.imaginary = rounded_number<RealOf<Scalar>>(e.imaginary);
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// The first entry in which they differ, as text; empty where they do not.
std::string difference(const std::vector<MarketEntry>& found,
                       const std::vector<MarketEntry>& expected) {
  std::ostringstream text;
  text.precision(17);
  if (found.size() != expected.size()) {
    text << found.size() << " and not " << expected.size();
    return text.str();
  }
  for (std::size_t k = 0; k < found.size(); ++k) {
    const auto &f = found[k], &e = expected[k];
    if (f == e) continue;
    text << "row " << f.row << ", column " << f.column << ": " << f.real << ' '
         << f.imaginary << " and not row " << e.row << ", column " << e.column
         << ": " << e.real << ' ' << e.imaginary;
    return text.str();
  }
  return "";
}

template <class Parser, class... Arguments>
std::optional<Parser> parse(const std::string& text, std::string& problem,
                            Arguments... arguments) {
  try {
    return Parser(text, arguments...);
  } catch (const NotMarket& error) {
    problem = error.what();
    return {};
  }
}

/// Reads; false with a count where Strata has an error. Other exceptions leave.
template <class Read>
bool reads(Context& context, const Read& read, std::string& problem) {
  try {
    read();
    return true;
  } catch (const Strata::Error& error) {
    context.count("refusals", "Strata::Error");
    problem = error.what();
    return false;
  }
}

template <class Scalar, class Ordinal, class Offset>
void check_coordinate(Context& context, Random& random,
                      const Strata::ScratchFolder& folder) {
  using Space = Kokkos::DefaultExecutionSpace;
  using Matrix = KokkosSparse::CrsMatrix<Scalar, Ordinal, Space, void, Offset>;
  using Traits = ScalarTraits<Scalar>;
  const File file = random_file(
      random, folder, MarketText(random).coordinate(Traits::is_complex));
  context.describe(std::string("coordinate file, ") + file.how + ", as " +
                   Traits::name() + ":\n" + file.text.substr(0, 600));
  context.count("scalar", Traits::name());
  context.count("files", file.how);
  std::string refused, not_market;
  HostMatrix<Scalar> found;
  const std::string path = folder.write(file.bytes);
  const bool was_read = reads(
      context,
      [&] {
        found = HostMatrix<Scalar>(Strata::read_matrix_market<Matrix>(path));
      },
      refused);
  const auto expected = parse<MarketParser>(
      file.text, not_market, Traits::is_complex,
      static_cast<double>(std::numeric_limits<RealOf<Scalar>>::max()));
  if (was_read && !expected)
    return context.fail("no Matrix Market file accepted", not_market);
  if (!was_read) {
    // Bytes of gzip files may be damaged in other ways than their text.
    if (expected && file.bytes == file.text)
      context.fail("valid file refused", refused);
    return context.expect(!expected || file.damaged, "valid file refused",
                          refused);
  }
  if (!found.values.empty() && context.tampers("value"))
    found.values[0] += Scalar(1);
  context.expect(found.rows == expected->rows && found.columns == found.rows,
                 "size", std::to_string(found.rows));
  const std::string problem =
      difference(as_entries(found), rounded<Scalar>(expected->entries));
  context.expect(problem.empty(), "entries", problem);
}

void check_array(Context& context, Random& random,
                 const Strata::ScratchFolder& folder) {
  const File file = random_file(random, folder, MarketText(random).array());
  context.describe("array file, " + file.how + ":\n" +
                   file.text.substr(0, 600));
  context.count("scalar", "double");
  context.count("files", "array, " + file.how);
  std::string refused, not_market;
  Strata::HostArray found;
  const std::string path = folder.write(file.bytes);
  const bool was_read = reads(
      context, [&] { found = Strata::read_matrix_market_array(path); },
      refused);
  const auto expected = parse<ArrayParser>(file.text, not_market);
  if (was_read && !expected)
    return context.fail("no Matrix Market file accepted", not_market);
  if (!was_read)
    return context.expect(!expected || file.damaged, "valid file refused",
                          refused);
  const auto rows = static_cast<std::int64_t>(found.extent(0));
  const auto columns = static_cast<std::int64_t>(found.extent(1));
  context.expect(rows == expected->rows && columns == expected->columns, "size",
                 std::to_string(rows) + " x " + std::to_string(columns));
  std::vector<double> values(found.data(), found.data() + found.size());
  if (!values.empty() && context.tampers("array value")) flip_bit(values[0]);
  context.expect(same_bits(values, expected->values), "entries",
                 "not those of the file");
  Strata::write_matrix_market_array(path, found);
  const auto again = Strata::read_matrix_market_array(path);
  context.expect(
      same_bits(std::vector<double>(again.data(), again.data() + again.size()),
                std::vector<double>(found.data(), found.data() + found.size())),
      "written array", "does not read back to the same bits");
}

void run(Context& context) {
  static const Strata::ScratchFolder folder;
  Random random(context.seed);
  context.count("backend", Kokkos::DefaultExecutionSpace::name());
  switch (random.whole(0, 5)) {
    case 0:
      check_array(context, random, folder);
      break;
    case 1:
      check_coordinate<Kokkos::complex<double>, int, int>(context, random,
                                                          folder);
      break;
    case 2:
      check_coordinate<Kokkos::complex<float>, std::int64_t, std::size_t>(
          context, random, folder);
      break;
    case 3:
      check_coordinate<float, int, std::int64_t>(context, random, folder);
      break;
    default:
      check_coordinate<double, int, int>(context, random, folder);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Driver driver;
  driver.name = "strata_fuzz_matrix_market";
  driver.run = run;
  driver.tamperings = {{"value", {"entries"}}, {"array value", {"entries"}}};
  return run_driver(argc, argv, driver);
}
