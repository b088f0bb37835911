// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_MATRIX_MARKET_HPP
#define STRATA_MATRIX_MARKET_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <algorithm>
#include <core/matrix/KernelsCompat.hpp>
#include <core/matrix/MatrixTypes.hpp>
#include <core/matrix_market/MatrixMarketScan.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <exception>
#include <memory>

namespace Strata {

namespace Detail {

template <class Scalar>
struct MarketScalar {
  static constexpr bool complex = false;
  using Real = Scalar;
  template <class Number>
  static Scalar from(const Number& number) {
    return static_cast<Scalar>(number);
  }
};
template <class R>
struct MarketScalar<Kokkos::complex<R>> {
  static constexpr bool complex = true;
  using Real = R;
  template <class Number>
  static Kokkos::complex<R> from(const Number& number) {
    return {static_cast<R>(number), R(0)};
  }
  static Kokkos::complex<R> from(const Kokkos::complex<double>& number) {
    return {static_cast<R>(number.real()), static_cast<R>(number.imag())};
  }
};

/// Has Kokkos Kernels read the file, with the values as Number, and takes the
/// arrays over.
template <class CrsMatrix, class Number>
CrsMatrix read_checked_market(const std::string& path,
                              const std::string& shown_path,
                              const MatrixMarketScan& scan) {
  using Types = MatrixTypes<CrsMatrix>;
  using Ordinal = typename Types::Ordinal;
  using Offset = typename Types::Offset;
  using Scalar = typename Types::Scalar;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;

  const CoordinateArrays<Ordinal, Offset, Number> read =
      read_coordinates<Ordinal, Offset, Number>(path);
  const auto stored = static_cast<std::int64_t>(read.entries);
  if (stored != scan.entries())
    throw FileError(
        shown_path,
        std::to_string(scan.entries() - stored) +
            " entries are named twice or beside their mirror image",
        "store one triangle of a symmetric matrix, each entry once");
  const std::int64_t rows = scan.rows();

  auto row_map = make_unfilled<typename Types::RowMap>(
      "Strata::MatrixMarket::row_map", rows + 1);
  auto entries = make_unfilled<typename Types::Entries>(
      "Strata::MatrixMarket::entries", stored);
  auto values = make_unfilled<typename Types::Values>(
      "Strata::MatrixMarket::values", stored);
  Kokkos::deep_copy(row_map,
                    Kokkos::View<const Offset*, Kokkos::HostSpace, Unmanaged>(
                        read.row_map.get(), row_map.extent(0)));
  Kokkos::deep_copy(entries,
                    Kokkos::View<const Ordinal*, Kokkos::HostSpace, Unmanaged>(
                        read.columns.get(), entries.extent(0)));
  auto host_values = Kokkos::create_mirror_view(values);
  std::transform(
      read.values.get(), read.values.get() + stored, host_values.data(),
      [](const Number& number) { return MarketScalar<Scalar>::from(number); });
  Kokkos::deep_copy(values, host_values);
  return CrsMatrix("Strata::matrix_market", static_cast<Ordinal>(rows),
                   static_cast<Ordinal>(rows), static_cast<Offset>(stored),
                   values, row_map, entries);
}

/// The same with the file's type of numbers.
template <class CrsMatrix>
CrsMatrix read_market_of_field(const std::string& path,
                               const std::string& shown_path,
                               const MatrixMarketScan& scan) {
  using Scalar = MarketScalar<typename MatrixTypes<CrsMatrix>::Scalar>;
  switch (scan.field()) {
    case MarketField::complex:
      if constexpr (Scalar::complex) {
        return read_checked_market<CrsMatrix, Kokkos::complex<double>>(
            path, shown_path, scan);
      }
      break;
    case MarketField::integer:
      return read_checked_market<CrsMatrix, std::int64_t>(path, shown_path,
                                                          scan);
    default:
      return read_checked_market<CrsMatrix, double>(path, shown_path, scan);
  }
  throw FileError(shown_path, "holds complex values",
                  "read it into a matrix with a complex scalar type");
}

/// See read_matrix_market.
template <class CrsMatrix>
CrsMatrix read_whole_market(const std::string& path) {
  using Types = MatrixTypes<CrsMatrix>;
  using Scalar = MarketScalar<typename Types::Scalar>;
  const auto largest = [](auto of_type) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(
        static_cast<std::uint64_t>(
            std::numeric_limits<decltype(of_type)>::max()),
        INT64_MAX));
  };
  // The reader counts rows + 1 in the ordinal type.
  MatrixMarketScan scan(
      path,
      {Scalar::complex,
       static_cast<double>(std::numeric_limits<typename Scalar::Real>::max()),
       largest(typename Types::Ordinal()) - 1,
       largest(typename Types::Offset()), sizeof(typename Types::Offset),
       // In the reader's list and in its arrays.
       4.0 * sizeof(typename Types::Ordinal)});
  std::unique_ptr<TemporaryFile> copy;
  const auto scan_and_copy = [&] {
    copy = std::make_unique<TemporaryFile>();
    scan.run(copy.get());
    copy->close();
  };
  if (GzipLines::is_compressed(path)) {
    scan_and_copy();
  } else {
    scan.run(nullptr);
    if (!scan.plainest()) scan_and_copy();
  }
  const std::string contents = std::to_string(scan.rows()) + " rows and " +
                               std::to_string(scan.entries()) + " entries";
  try {
    return with_memory_errors("a matrix of " + contents + " from " + path, [&] {
      return read_market_of_field<CrsMatrix>(copy ? copy->path() : path, path,
                                             scan);
    });
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    // Of the reader.
    const std::string what = error.what();
    throw FileError(
        path,
        contents + " can't be read (" + what.substr(0, what.find('\n')) + ")",
        "look for errors of the file system");
  }
}

}  // namespace Detail

/// Reads a square matrix from a Matrix Market coordinate file, gzip'd or not,
/// through Kokkos Kernels' reader, into the memory of CrsMatrix.
///
/// Fields: real and integer into any scalar, complex into complex ones, pattern
/// (every value is one). Symmetric, skew-symmetric and hermitian files become
/// whole matrices. Rows come sorted; explicit zeros stay; an entry that a
/// general file names twice stays twice, for the check of the matrix to find.
///
/// The file is checked line by line first: whatever is wrong with it raises
/// FileError with the line at fault, and index types too narrow for it raise
/// IndexOverflowError. So do sizes that the file can't hold, or that take more
/// memory than there is, before any is taken; above 16,777,216 rows there has
/// to be an entry for every 1,000 of them. A file that is compressed, or
/// written in a way that Kokkos Kernels' reader does not know, is copied in
/// plain form to a temporary file (in TMPDIR), which is removed in all cases.
/// MemoryError tells of less memory than the system has said that there is.
/// Cost: two passes over the text, and a sort of the entries on the host with
/// 16 to 32 bytes each.
template <class CrsMatrix>
CrsMatrix read_matrix_market(const std::string& path) {
  static_assert(Detail::owns_its_memory<CrsMatrix>,
                "Strata: a matrix that is made is not const-valued and has no "
                "memory traits: name CrsMatrix<Scalar, Ordinal, Device, void, "
                "Offset>");
  return Detail::with_memory_errors("a matrix from a file", [&] {
    return Detail::read_whole_market<CrsMatrix>(path);
  });
}

}  // namespace Strata

#endif
