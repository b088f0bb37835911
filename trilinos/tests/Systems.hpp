// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IFPACK2STRATA_TESTS_SYSTEMS_HPP
#define IFPACK2STRATA_TESTS_SYSTEMS_HPP

// Distributed matrices for the tests, and checks. A failed check says what was
// seen and ends the program on all ranks: ctest reads the exit status.

#include <Teuchos_ParameterList.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

using Scalar = double;
using Map = Tpetra::Map<>;
using Crs = Tpetra::CrsMatrix<Scalar>;
using Row = Tpetra::RowMatrix<Scalar>;
using Vectors = Tpetra::MultiVector<Scalar>;
using Local = Map::local_ordinal_type;
using Global = Map::global_ordinal_type;
using Teuchos::RCP;
using Teuchos::rcp;

#define CHECK(condition, ...)                                              \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      std::fprintf(stderr, __VA_ARGS__);                                   \
      std::fprintf(stderr, "\n");                                          \
      std::fflush(stderr);                                                 \
      MPI_Abort(MPI_COMM_WORLD, 1);                                        \
    }                                                                      \
  } while (0)

/// That the call throws Error, whose text has these words.
template <class Error, class Call>
void check_throws(const Call& call, const std::string& words) {
  std::string seen = "nothing";
  try {
    call();
  } catch (const Error& error) {
    seen = error.what();
  }
  CHECK(seen.find(words) != std::string::npos, "no \"%s\" in: %s",
        words.c_str(), seen.c_str());
}

/// How rows are distributed: blocks of equal size, one row after another to the
/// next rank, blocks of sizes that depend on the rank (none on the last one of
/// several), or blocks in descending order.
enum class Rows { equal, cyclic, uneven, descending };
constexpr Rows all_rows[] = {Rows::equal, Rows::cyclic, Rows::uneven,
                             Rows::descending};

inline RCP<const Map> make_map(Rows how, Global n,
                               const RCP<const Teuchos::Comm<int>>& comm) {
  const Global ranks = comm->getSize(), rank = comm->getRank();
  std::vector<Global> mine;
  for (Global i = 0; i < n; ++i) {
    Global owner = i * ranks / n;
    if (how == Rows::cyclic) owner = i % ranks;
    if (how == Rows::uneven && ranks > 1) {
      // The share of rank r is 2 r + 1 of (ranks - 1)^2.
      owner = static_cast<Global>(std::sqrt(double(i) / double(n)) *
                                  double(ranks - 1));
      owner = std::min(owner, ranks - 2);
    }
    if (owner == rank) mine.push_back(i);
  }
  if (how == Rows::descending) std::reverse(mine.begin(), mine.end());
  return rcp(new Map(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(),
                     Teuchos::ArrayView<const Global>(mine.data(), mine.size()),
                     0, comm));
}

/// 7-point convection and diffusion on n^3 points; symmetric without wind.
inline RCP<Crs> make_grid(const RCP<const Map>& map, Global n, double wind) {
  const RCP<Crs> A = rcp(new Crs(map, 7));
  const auto rows = map->getMyGlobalIndices();
  for (std::size_t k = 0; k < rows.extent(0); ++k) {
    const Global i = rows(k), x = i % n, y = i / n % n, z = i / (n * n);
    std::vector<Global> columns{i};
    std::vector<Scalar> values{6 + 3 * wind};
    const auto neighbour = [&](bool exists, Global column, double value) {
      if (!exists) return;
      columns.push_back(column);
      values.push_back(value);
    };
    neighbour(x > 0, i - 1, -1 - wind);
    neighbour(x < n - 1, i + 1, -1);
    neighbour(y > 0, i - n, -1 - wind);
    neighbour(y < n - 1, i + n, -1);
    neighbour(z > 0, i - n * n, -1 - wind);
    neighbour(z < n - 1, i + n * n, -1);
    A->insertGlobalValues(
        i, Teuchos::ArrayView<const Global>(columns.data(), columns.size()),
        Teuchos::ArrayView<const Scalar>(values.data(), values.size()));
  }
  A->fillComplete();
  return A;
}

/// A random triangle of each rank's own rows, in the order of the map; with
/// `ghosts` on several ranks also entries in the columns of others, which
/// local solves leave out.
inline RCP<Crs> make_triangle(const RCP<const Map>& map, bool is_lower,
                              bool is_unit, bool ghosts, unsigned seed) {
  const auto rows = map->getMyGlobalIndices();
  const auto n = static_cast<std::int64_t>(rows.extent(0));
  const Global all = map->getMaxAllGlobalIndex() + 1;
  std::mt19937 random(seed + 977u * unsigned(map->getComm()->getRank()));
  std::uniform_real_distribution<double> value(-1, 1);
  const RCP<Crs> T = ghosts ? rcp(new Crs(map, 8)) : rcp(new Crs(map, map, 8));
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<std::int64_t> columns;
    const std::int64_t others = is_lower ? i : n - 1 - i;
    for (int k = 0; k < 4 && others > 0; ++k) {
      const auto away = 1 + std::int64_t(random() % std::uint64_t(others));
      columns.push_back(is_lower ? i - away : i + away);
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    std::vector<Global> where;
    std::vector<Scalar> values;
    for (const auto j : columns) {
      where.push_back(rows(j));
      values.push_back(0.3 * value(random));
    }
    if (!is_unit) {
      where.push_back(rows(i));
      values.push_back(1.5 + value(random));
    }
    const Global other = (rows(i) + 1) % all;
    if (ghosts && !map->isNodeGlobalElement(other)) {
      where.push_back(other);
      values.push_back(value(random));
    }
    T->insertGlobalValues(
        rows(i), Teuchos::ArrayView<const Global>(where.data(), where.size()),
        Teuchos::ArrayView<const Scalar>(values.data(), values.size()));
  }
  T->fillComplete(map, map);
  return T;
}

/// The largest ||x_k - y_k|| / ||y_k|| of all columns.
inline double difference(const Vectors& x, const Vectors& y) {
  Vectors d(x, Teuchos::Copy);
  d.update(-1.0, y, 1.0);
  std::vector<double> size(x.getNumVectors()), whole(x.getNumVectors());
  d.norm2(Teuchos::ArrayView<double>(size.data(), size.size()));
  y.norm2(Teuchos::ArrayView<double>(whole.data(), whole.size()));
  double largest = 0;
  for (std::size_t k = 0; k < size.size(); ++k)
    largest = std::max(largest, size[k] / whole[k]);
  return largest;
}

#endif
