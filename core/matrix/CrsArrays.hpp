// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_CRS_ARRAYS_HPP
#define STRATA_CORE_MATRIX_CRS_ARRAYS_HPP

#include <core/matrix/IndexArray.hpp>

namespace Strata {
namespace Detail {

/// A caller's values, of which is asked whether they are zero: any of the four
/// scalar types, so that what looks at a pattern is compiled for none of them.
class StoredValues {
 public:
  StoredValues() = default;
  template <class View, std::enable_if_t<Kokkos::is_view<View>::value, int> = 0>
  StoredValues(const View& view)  // NOLINT: a view is an array of values
      : StoredValues(static_cast<const typename View::non_const_value_type*>(
                         view.data()),
                     view.extent(0),
                     view.extent(0) > 1
                         ? static_cast<std::int64_t>(view.stride(0))
                         : 1) {}
  template <class Scalar>
  StoredValues(const Scalar* data, std::size_t extent, std::int64_t stride)
      : data_(data), extent_(extent), stride_(stride) {
    constexpr bool single = std::is_same<Scalar, float>::value ||
                            std::is_same<Scalar, Kokkos::complex<float>>::value;
    constexpr bool complex =
        std::is_same<Scalar, Kokkos::complex<float>>::value ||
        std::is_same<Scalar, Kokkos::complex<double>>::value;
    static_assert(single || complex || std::is_same<Scalar, double>::value,
                  "Strata: the scalar type must be float, double, "
                  "Kokkos::complex<float> or Kokkos::complex<double>");
    single_ = single;
    parts_ = complex ? 2 : 1;
  }

  KOKKOS_INLINE_FUNCTION std::size_t extent(int) const { return extent_; }
  KOKKOS_INLINE_FUNCTION bool is_zero(std::int64_t k) const {
    const std::int64_t first = k * stride_ * parts_;
    return part_is_zero(first) && (parts_ == 1 || part_is_zero(first + 1));
  }
  /// Element k, which is zero, as a stream writes it.
  template <class MemorySpace>
  std::string text_of_zero(std::int64_t k) const {
    // The sign is all that may differ.
    const std::size_t bytes = single_ ? 4 : 8;
    const auto part = [&](int p) -> std::string {
      const auto at = static_cast<std::size_t>(k * stride_ * parts_ + p + 1);
      const char sign = to_host<MemorySpace>(
          static_cast<const char*>(data_) + at * bytes - 1, 1)[0];
      return sign != 0 ? "-0" : "0";
    };
    return parts_ == 1 ? part(0) : "(" + part(0) + "," + part(1) + ")";
  }

 private:
  KOKKOS_INLINE_FUNCTION bool part_is_zero(std::int64_t at) const {
    return single_ ? static_cast<const float*>(data_)[at] == 0
                   : static_cast<const double*>(data_)[at] == 0;
  }

  const void* data_ = nullptr;
  std::size_t extent_ = 0;
  std::int64_t stride_ = 1;
  bool single_ = false;
  int parts_ = 1;
};

/// A caller's CRS matrix, from views of any index types.
template <class Scalar>
struct CrsArrays {
  IndexArray row_map, entries;
  /// Contiguous.
  const Scalar* values = nullptr;
  std::size_t num_values = 0;
  std::int64_t columns = 0;

  std::int64_t rows() const {
    const auto offsets = static_cast<std::int64_t>(row_map.extent(0));
    return offsets == 0 ? 0 : offsets - 1;
  }
  StoredValues stored_values() const { return {values, num_values, 1}; }
};

/// Of three views that ExpectMatrixViews has seen.
template <class RowMap, class Entries, class Values>
CrsArrays<typename Values::non_const_value_type> crs_arrays(
    const RowMap& row_map, const Entries& entries, const Values& values,
    std::int64_t columns) {
  return {row_map, entries, values.data(), values.extent(0), columns};
}
/// A square one.
template <class RowMap, class Entries, class Values>
CrsArrays<typename Values::non_const_value_type> crs_arrays(
    const RowMap& row_map, const Entries& entries, const Values& values) {
  const auto offsets = static_cast<std::int64_t>(row_map.extent(0));
  return crs_arrays(row_map, entries, values, offsets == 0 ? 0 : offsets - 1);
}
/// Of a KokkosSparse::CrsMatrix.
template <class Matrix>
auto crs_arrays(const Matrix& A) {
  return crs_arrays(A.graph.row_map, A.graph.entries, A.values,
                    static_cast<std::int64_t>(A.numCols()));
}

}  // namespace Detail
}  // namespace Strata

#endif
