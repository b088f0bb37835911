// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_MARKET_MATRIX_MARKET_IMPLEMENTATION_HPP
#define STRATA_CORE_MATRIX_MARKET_MATRIX_MARKET_IMPLEMENTATION_HPP

#include <Strata_MatrixMarket.hpp>
#include <algorithm>
#include <core/matrix/KernelsCompat.hpp>
#include <core/matrix_market/MatrixMarketScan.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <exception>
#include <memory>
#include <vector>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<MatrixMarketReader> : std::true_type {};

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

/// Whether indices need the reader's wider type.
inline bool is_wide(IndexKind kind) { return kind != IndexKind::int32; }

/// Copies from the host to MemorySpace.
template <class MemorySpace, class T>
void copy_to_space(const T* from, std::size_t count, const void* to) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::deep_copy(
      Kokkos::View<T*, MemorySpace, Unmanaged>(
          static_cast<T*>(const_cast<void*>(to)), count),
      Kokkos::View<const T*, Kokkos::HostSpace, Unmanaged>(from, count));
}
/// The same into an array of the caller's integers.
template <class MemorySpace, class Integer>
void copy_indices_to_space(const Integer* from, const IndexOutput& to) {
  const std::size_t count = to.extent(0);
  if (to.bytes_of_one() == sizeof(Integer)) {
    copy_to_space<MemorySpace>(from, count, to.data());
  } else if (sizeof(Integer) == 8) {
    const std::vector<std::int32_t> narrow(from, from + count);
    copy_to_space<MemorySpace>(narrow.data(), count, to.data());
  } else {
    const std::vector<std::int64_t> wide(from, from + count);
    copy_to_space<MemorySpace>(wide.data(), count, to.data());
  }
}

/// Has Kokkos Kernels read the file, with the values as Number, and takes the
/// arrays over.
template <class ExecutionSpace, class Ordinal, class Offset, class Number,
          class Scalar>
void read_checked_market(const std::string& path, const std::string& shown_path,
                         const MatrixMarketScan& scan,
                         NewMatrix<Scalar>& made) {
  using Memory = typename ExecutionSpace::memory_space;
  const CoordinateArrays<Ordinal, Offset, Number> read =
      read_coordinates<Ordinal, Offset, Number>(path);
  const auto stored = static_cast<std::int64_t>(read.entries);
  if (stored != scan.entries())
    throw FileError(
        shown_path,
        std::to_string(scan.entries() - stored) +
            " entries are named twice or beside their mirror image",
        "store one triangle of a symmetric matrix, each entry once");
  const IndexOutput row_map =
      made.make_row_map("Strata::MatrixMarket::row_map", scan.rows());
  const IndexOutput entries =
      made.make_entries("Strata::MatrixMarket::entries", stored);
  Scalar* const values =
      made.make_values("Strata::MatrixMarket::values", stored);
  copy_indices_to_space<Memory>(read.row_map.get(), row_map);
  copy_indices_to_space<Memory>(read.columns.get(), entries);
  std::vector<Scalar> host_values(static_cast<std::size_t>(stored));
  std::transform(
      read.values.get(), read.values.get() + stored, host_values.data(),
      [](const Number& number) { return MarketScalar<Scalar>::from(number); });
  copy_to_space<Memory>(host_values.data(), host_values.size(), values);
}

/// The same with index types that hold the caller's.
template <class ExecutionSpace, class Number, class Scalar>
void read_market_of(const std::string& path, const std::string& shown_path,
                    const MatrixMarketScan& scan, NewMatrix<Scalar>& made) {
  using Long = std::int64_t;
  if (is_wide(made.ordinal))
    read_checked_market<ExecutionSpace, Long, Long, Number>(path, shown_path,
                                                            scan, made);
  else if (is_wide(made.offset))
    read_checked_market<ExecutionSpace, int, Long, Number>(path, shown_path,
                                                           scan, made);
  else
    read_checked_market<ExecutionSpace, int, int, Number>(path, shown_path,
                                                          scan, made);
}

/// The same with the file's type of numbers.
template <class ExecutionSpace, class Scalar>
void read_market_of_field(const std::string& path,
                          const std::string& shown_path,
                          const MatrixMarketScan& scan,
                          NewMatrix<Scalar>& made) {
  switch (scan.field()) {
    case MarketField::complex:
      if constexpr (MarketScalar<Scalar>::complex) {
        return read_market_of<ExecutionSpace, Kokkos::complex<double>>(
            path, shown_path, scan, made);
      }
      break;
    case MarketField::integer:
      return read_market_of<ExecutionSpace, std::int64_t>(path, shown_path,
                                                          scan, made);
    default:
      return read_market_of<ExecutionSpace, double>(path, shown_path, scan,
                                                    made);
  }
  throw FileError(shown_path, "holds complex values",
                  "read it into a matrix with a complex scalar type");
}

/// See read_matrix_market.
template <class ExecutionSpace, class Scalar>
void read_whole_market(const std::string& path, NewMatrix<Scalar>& made) {
  using Market = MarketScalar<Scalar>;
  // The reader counts rows + 1 in the ordinal type.
  MatrixMarketScan scan(
      path,
      {Market::complex,
       static_cast<double>(std::numeric_limits<typename Market::Real>::max()),
       made.largest_ordinal - 1, made.largest_offset,
       is_wide(made.offset) ? 8.0 : 4.0,
       // In the reader's list and in its arrays.
       is_wide(made.ordinal) ? 32.0 : 16.0});
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
    with_memory_errors("a matrix of " + contents + " from " + path, [&] {
      read_market_of_field<ExecutionSpace>(copy ? copy->path() : path, path,
                                           scan, made);
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

template <class ExecutionSpace, class Scalar>
void make_market_matrix(const std::string& path, NewMatrix<Scalar>& made) {
  with_memory_errors("a matrix from a file",
                     [&] { read_whole_market<ExecutionSpace>(path, made); });
}

}  // namespace Detail
}  // namespace Strata

#endif
