// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PYTHON_FACTORIZATION_HPP
#define STRATA_PYTHON_FACTORIZATION_HPP

#include <Strata_IlutPattern.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <string>

#include "Arrays.hpp"
#include "FactorSolver.hpp"
#include "Options.hpp"
#include "Runtime.hpp"
#include "UpdateStatus.hpp"

namespace StrataPython {

/// A dictionary of IncompleteFactorizationOptions' members by name, and of
/// those of its triangular options; what is left out has its default.
Strata::IncompleteFactorizationOptions factorization_options(
    const nb::dict& given);
Strata::IlutOptions ilut_options(const nb::dict& given);

template <class RowMap, class Entries>
struct Pattern {
  RowMap row_map;
  Entries entries;
};

template <class Scalar, class Space>
class Factorization
    : public Held<Strata::IncompleteFactorization<Scalar, Space>> {
 public:
  Factorization() = default;
  Factorization(const Indices<Space>& row_map, const Indices<Space>& entries,
                const Values<Scalar, Space>& values, const std::string& kind,
                const std::optional<Indices<Space>>& rows,
                const std::optional<Indices<Space>>& columns,
                const std::optional<Values<Scalar, Space>>& row_scaling,
                const std::optional<Values<Scalar, Space>>& column_scaling,
                const nb::dict& given, std::uintptr_t stream) {
    const Transformation<Scalar, Space> from{rows, columns, row_scaling,
                                             column_scaling};
    const auto factorization = enumerator<Strata::Factorization>("kind", kind);
    const auto options = factorization_options(given);
    const bool has_ilut = given.contains("drop_tolerance");
    const auto ilut = ilut_options(given);
    const Work work;
    with_indices<Space>(row_map, entries, [&](auto offsets, auto columns) {
      const auto exec = this->on(stream);
      const auto A = borrowed_matrix<Scalar, Space>(
          offsets, columns, view_of<Scalar, Space>(values));
      if (has_ilut)
        this->object = {exec, A, factorization,
                        Strata::ilut_pattern(exec, A, ilut).graph, options};
      else
        this->object = {exec, A, factorization, from.made(), options};
    });
  }
  /// On a given pattern.
  Factorization(const Indices<Space>& row_map, const Indices<Space>& entries,
                const Values<Scalar, Space>& values, const std::string& kind,
                const std::optional<Indices<Space>>& rows,
                const std::optional<Indices<Space>>& columns,
                const std::optional<Values<Scalar, Space>>& row_scaling,
                const std::optional<Values<Scalar, Space>>& column_scaling,
                const nb::dict& given, std::uintptr_t stream,
                const Indices<Space>& pattern_row_map,
                const Indices<Space>& pattern_entries) {
    const Transformation<Scalar, Space> how{rows, columns, row_scaling,
                                            column_scaling};
    const auto factorization = enumerator<Strata::Factorization>("kind", kind);
    const auto options = factorization_options(given);
    const auto from = view_of<Scalar, Space>(values);
    const Work work;
    with_indices<Space>(row_map, entries, [&](auto offsets, auto columns) {
      with_indices<Space>(
          pattern_row_map, pattern_entries, [&](auto rows, auto of_rows) {
            const Pattern<decltype(rows), decltype(of_rows)> pattern{rows,
                                                                     of_rows};
            this->object = {
                this->on(stream),
                borrowed_matrix<Scalar, Space>(offsets, columns, from),
                factorization,
                pattern,
                how.made(),
                options};
          });
    });
  }

  void update(const Indices<Space>& row_map, const Indices<Space>& entries,
              const Values<Scalar, Space>& values,
              const Kept<Scalar, Space>& kept, std::uintptr_t stream) {
    const auto from = view_of<Scalar, Space>(values);
    const Work work;
    const auto exec = this->on(stream);
    with_indices<Space>(row_map, entries, [&](auto offsets, auto columns) {
      this->object.update_values(
          exec, borrowed_matrix<Scalar, Space>(offsets, columns, from));
    });
    keep<Scalar>(exec, kept, from);
    exec.fence();
  }

  void apply(const Read<Scalar, Space>& r, const Written<Scalar, Space>& z,
             const std::string& op, std::uintptr_t stream) const {
    const auto from = strided_view<Scalar, Space>("r", r);
    const auto to = strided_view<Scalar, Space>("out", z);
    const auto which = enumerator<Strata::Op>("op", op);
    const Work work;
    this->object.apply(this->on(stream), from, to, which);
  }

  void apply_at(const PlaceTuple& r, const PlaceTuple& z,
                std::uintptr_t stream) const {
    const auto from = view_at<const Scalar, Space>(place_of(r));
    const auto to = view_at<Scalar, Space>(place_of(z));
    const Work work;
    this->object.apply(this->on(stream), from, to);
  }

  void enqueue_values(const Values<Scalar, Space>& values,
                      const Kept<Scalar, Space>& kept, std::uintptr_t stream) {
    const auto from = view_of<Scalar, Space>(values);
    const Work work;
    const auto exec = this->on(stream);
    this->object.enqueue_update_values(exec, from);
    keep<Scalar>(exec, kept, from);
  }
  FoundStatus status(std::uintptr_t stream) const {
    const Work work;
    return found_status(this->on(stream), this->object.update_status());
  }

  /// Becomes one with the factors and plans of `other`.
  void share(const Factorization& other, std::uintptr_t stream) {
    const Work work;
    this->object = other.object.share_plan(other.on(stream));
  }

  /// Copies a factor to arrays of the right lengths, on the host or in `Space`.
  template <class Integer>
  void copy_factor(bool lower, const Filled<Integer>& row_map,
                   const Filled<Integer>& entries,
                   const Filled<InterfaceOf<Scalar>>& values,
                   std::uintptr_t stream) const {
    using Matrix =
        KokkosSparse::CrsMatrix<Scalar, Integer, typename Space::device_type,
                                void, Integer>;
    const Work work;
    const auto exec = this->on(stream);
    const Matrix factor = lower ? this->object.template lower<Matrix>(exec)
                                : this->object.template upper<Matrix>(exec);
    fill<Space>("indptr", row_map, factor.graph.row_map);
    fill<Space>("indices", entries, factor.graph.entries);
    fill<Space>("data", values, factor.values);
  }

  /// Copy a permutation or a scaling to an array of the host.
  /// @return whether there is one
  bool copy_places(bool rows, const Filled<std::int32_t>& to,
                   std::uintptr_t stream) const {
    const Work work;
    const auto exec = this->on(stream);
    const auto how = this->object.transformation();
    const auto& given = rows ? how.row_permutation() : how.column_permutation();
    if (!given.is_set) return false;
    exec.fence();
    fill<Space>(rows ? "perm_r" : "perm_c", to,
                view_of_memory<const std::int32_t>(given.array.data(),
                                                   given.array.extent(0)));
    return true;
  }
  bool copy_scaling(bool rows, const Filled<InterfaceOf<Scalar>>& to,
                    std::uintptr_t stream) const {
    const Work work;
    const auto exec = this->on(stream);
    const auto how = this->object.transformation();
    const auto& given = rows ? how.row_scaling() : how.column_scaling();
    if (!given.is_set) return false;
    exec.fence();
    fill<Space>(rows ? "row_scale" : "col_scale", to,
                view_of_memory<const Scalar>(given.data, given.extent));
    return true;
  }

  Strata::IncompleteFactorizationReport report() const {
    return this->object.report();
  }

 private:
  template <class Element>
  static auto view_of_memory(const void* data, std::size_t extent) {
    return BorrowedArray<Element, Space>(static_cast<Element*>(data), extent);
  }
};

}  // namespace StrataPython

#endif
