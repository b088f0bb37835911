// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string>

#include "Arrays.hpp"
#include "Bindings.hpp"
#include "Runtime.hpp"

namespace StrataPython {

namespace {

/// A triangle that is solved with once, on the calling thread: as much work as
/// two passes over its entries, less than any plan costs. Rows need not be
/// sorted, entries named twice add up, and those of the other triangle are
/// zero. By columns where `by_columns` is set: the arrays are CSC's then.
template <class Scalar, class Index>
class Substitution {
 public:
  Substitution(const Index* offsets, std::int64_t n, const Index* others,
               std::int64_t stored, const Scalar* values, bool lower, bool unit,
               bool by_columns)
      : offsets_(offsets),
        others_(others),
        values_(values),
        n_(n),
        stored_(stored),
        lower_(lower),
        unit_(unit),
        by_columns_(by_columns) {}

  /// @throws one of the MatrixError classes
  void check() const {
    const char* const name = by_columns_ ? "column" : "row";
    if (offsets_[0] != 0 || offsets_[n_] > stored_)
      throw Strata::RowMapError(
          "A", "indptr does not begin at 0, or ends past the entries",
          "pass the offsets of a CSR or CSC matrix");
    for (std::int64_t i = 0; i < n_; ++i) {
      if (offsets_[i] > offsets_[i + 1])
        throw Strata::RowMapError("A", at("indptr decreases after", name, i),
                                  "pass the offsets of a CSR or CSC matrix", i);
      if (offsets_[i + 1] > stored_)
        throw Strata::RowMapError(
            "A", at("indptr points past the entries in", name, i),
            "pass the offsets of a CSR or CSC matrix", i);
      bool has_diagonal = false;
      Scalar diagonal(0);
      for (auto k = offsets_[i]; k < offsets_[i + 1]; ++k) {
        const std::int64_t j = others_[k];
        if (j < 0 || j >= n_)
          throw Strata::ColumnRangeError("A",
                                         "the index " + std::to_string(j) +
                                             at(" is out of range in", name, i),
                                         "use indices from 0 to n - 1", i,
                                         std::to_string(j));
        if (j == i) {
          has_diagonal = true;
          diagonal += values_[k];
        } else if (!is_strict(i, j) && values_[k] != Scalar(0)) {
          throw Strata::WrongTriangleError(
              "A",
              at("an entry that is not zero lies on the other side of the "
                 "diagonal in",
                 name, i),
              "pass a triangle: scipy.sparse.tril or triu takes one", i,
              std::to_string(j));
        }
      }
      if (unit_) continue;
      if (!has_diagonal)
        throw Strata::MissingDiagonalError(
            "A", at("no diagonal entry in", name, i),
            "store the diagonal, or pass unit_diagonal=True", i);
      if (diagonal == Scalar(0))
        throw Strata::ZeroDiagonalError(
            "A", at("the diagonal entry is zero in", name, i),
            "pass a matrix that is not singular", i);
    }
  }

  /// `columns` right-hand sides at a time, `stride` apart, become solutions.
  void solve(Scalar* x, std::int64_t row_stride, std::int64_t columns,
             std::int64_t stride) const {
    for (std::int64_t step = 0; step < n_; ++step) {
      const std::int64_t i = lower_ ? step : n_ - 1 - step;
      Scalar* const x_i = x + i * row_stride;
      Scalar diagonal(unit_ ? 1 : 0);
      const auto begin = offsets_[i], end = offsets_[i + 1];
      if (by_columns_) {
        if (!unit_) {
          for (auto k = begin; k < end; ++k)
            if (others_[k] == i) diagonal += values_[k];
          divide(x_i, columns, stride, diagonal);
        }
        for (auto k = begin; k < end; ++k)
          if (is_strict(i, others_[k]))
            subtract(x + others_[k] * row_stride, values_[k], x_i, columns,
                     stride);
      } else {
        for (auto k = begin; k < end; ++k) {
          if (is_strict(i, others_[k]))
            subtract(x_i, values_[k], x + others_[k] * row_stride, columns,
                     stride);
          else if (!unit_ && others_[k] == i)
            diagonal += values_[k];
        }
        if (!unit_) divide(x_i, columns, stride, diagonal);
      }
    }
  }

 private:
  static std::string at(const char* what, const char* name, std::int64_t i) {
    return std::string(what) + " " + name + " " + std::to_string(i);
  }
  /// Whether index j of row (or column) i is of the triangle, and not on its
  /// diagonal.
  bool is_strict(std::int64_t i, std::int64_t j) const {
    return lower_ != by_columns_ ? j < i : j > i;
  }

  static void divide(Scalar* x, std::int64_t columns, std::int64_t stride,
                     Scalar by) {
    for (std::int64_t c = 0; c < columns; ++c) x[c * stride] /= by;
  }
  static void subtract(Scalar* from, Scalar factor, const Scalar* x,
                       std::int64_t columns, std::int64_t stride) {
    for (std::int64_t c = 0; c < columns; ++c)
      from[c * stride] -= factor * x[c * stride];
  }

  const Index* offsets_;
  const Index* others_;
  const Scalar* values_;
  std::int64_t n_, stored_;
  bool lower_, unit_, by_columns_;
};

/// x = A^-1 x; x is left alone where A is refused.
template <class Scalar>
void substitute(const Indices<Host>& offsets, const Indices<Host>& others,
                const Values<Scalar, Host>& values, bool lower, bool unit,
                bool by_columns, const Written<Scalar, Host>& x) {
  const auto to = strided_view<Scalar, Host>("b", x);
  with_indices<Host>(offsets, others, [&](auto indptr, auto indices) {
    using Index = typename decltype(indices)::non_const_value_type;
    const std::int64_t n = rows_of(indptr);
    if (static_cast<std::int64_t>(to.extent(0)) != n)
      throw Strata::SizeMismatchError("b", "has not as many rows as A",
                                      "pass an element for each row");
    if (indices.extent(0) != values.shape(0))
      throw Strata::SizeMismatchError("A", "has not as many indices as values",
                                      "give every entry both");
    const Away away;
    const Substitution<Scalar, Index> system(
        indptr.data(), n, indices.data(),
        static_cast<std::int64_t>(indices.extent(0)),
        reinterpret_cast<const Scalar*>(values.data()), lower, unit,
        by_columns);
    system.check();
    const auto columns = static_cast<std::int64_t>(to.extent(1));
    const auto row = static_cast<std::int64_t>(to.stride(0));
    const auto column = static_cast<std::int64_t>(to.stride(1));
    if (columns == 1 || column <= row)
      // A loop over one column is known to be one.
      columns == 1 ? system.solve(to.data(), row, 1, 1)
                   : system.solve(to.data(), row, columns, column);
    else
      for (std::int64_t c = 0; c < columns; ++c)
        system.solve(to.data() + c * column, row, 1, 1);
  });
}

}  // namespace

void bind_substitution(nb::module_& module) {
  const auto define = [&](auto scalar) {
    using Scalar = decltype(scalar);
    module.def(class_name<Scalar, Host>("substitute").c_str(),
               &substitute<Scalar>, nb::arg("indptr").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("data").noconvert(),
               nb::arg("lower"), nb::arg("unit_diagonal"),
               nb::arg("by_columns"), nb::arg("x").noconvert());
  };
  define(float());
  define(double());
  define(Kokkos::complex<float>());
  define(Kokkos::complex<double>());
}

}  // namespace StrataPython
