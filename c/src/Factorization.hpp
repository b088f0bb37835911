// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_C_FACTORIZATION_HPP
#define STRATA_C_FACTORIZATION_HPP

#include <Strata_IncompleteFactorization.hpp>

#include "Arrays.hpp"

namespace StrataC {

/// Where a copy of a factor goes.
struct FactorArrays {
  void *row_map, *columns, *values;
  bool wide;
  int index_base;
  bool in_device;
};

/// Factors of any types.
class Factorization : public Object {
 public:
  static constexpr const char* kind = "one of strata_factorization_create";
  virtual void solve(Strata::Op op, const Vectors& vectors,
                     void* stream) const = 0;
  virtual void update_values(const Matrix& matrix, void* stream) = 0;
  virtual void enqueue_values(const void* values, void* stream) = 0;
  virtual Strata::UpdateStatus fault(void* stream) const = 0;
  virtual const Strata::IncompleteFactorizationReport& facts() const = 0;
  virtual void copy(Strata::Uplo factor, const FactorArrays& to,
                    void* stream) const = 0;
  virtual std::unique_ptr<Object> share(void* stream) const = 0;

  std::string report_text;
};

template <class Scalar, class Space>
class FactorizationOf final : public Factorization {
  using Factors = Strata::IncompleteFactorization<Scalar, Space>;

 public:
  FactorizationOf(const Matrix& matrix, Strata::Factorization which,
                  const Strata::IncompleteFactorizationOptions& options,
                  void* stream) {
    const auto exec = on_stream<Space>(stream);
    with_arrays<Scalar>(exec, matrix, [&](const auto&... arrays) {
      factors_ = Factors(exec, borrowed_matrix<Scalar, Space>(arrays...), which,
                         options);
    });
  }
  explicit FactorizationOf(Factors factors) : factors_(std::move(factors)) {}

  const Factors& factors() const { return factors_; }

  void solve(Strata::Op op, const Vectors& vectors,
             void* stream) const override {
    with_vectors<Scalar, Space>(
        vectors, factors_.rows(), [&](const auto& b, const auto& x) {
          factors_.apply(on_stream<Space>(stream), b, x, op);
        });
  }
  void update_values(const Matrix& matrix, void* stream) override {
    const auto exec = on_stream<Space>(stream);
    with_arrays<Scalar>(exec, matrix, [&](const auto&... arrays) {
      factors_.update_values(exec, borrowed_matrix<Scalar, Space>(arrays...));
    });
  }
  void enqueue_values(const void* values, void* stream) override {
    factors_.enqueue_update_values(
        on_stream<Space>(stream),
        values_view<Scalar, Space>(values, facts().entries));
  }
  Strata::UpdateStatus fault(void* stream) const override {
    return fetch_status(on_stream<Space>(stream), factors_.update_status());
  }
  const Strata::IncompleteFactorizationReport& facts() const override {
    return factors_.report();
  }
  void copy(Strata::Uplo which, const FactorArrays& to,
            void* stream) const override {
    const auto exec = on_stream<Space>(stream);
    if (to.in_device && !std::is_same<Space, Device>::value)
      throw Strata::OptionError("memory", "is that of a device",
                                "pass STRATA_HOST: the factors are there");
    with_index(to.wide, [&](auto index) {
      using Index = decltype(index);
      using Crs =
          KokkosSparse::CrsMatrix<Scalar, Index, typename Space::device_type,
                                  void, Index>;
      const Crs factor = which == Strata::Uplo::lower
                             ? factors_.template lower<Crs>(exec)
                             : factors_.template upper<Crs>(exec);
      const auto entries = static_cast<std::int64_t>(factor.nnz());
      require_array<Index>("row_map", to.row_map, factors_.rows() + 1);
      require_array<Index>("columns", to.columns, entries);
      require_array<Scalar>("values", to.values, entries);
      fill<Index>(exec, factor.graph.row_map, to.row_map, to);
      fill<Index>(exec, factor.graph.entries, to.columns, to);
      write(exec, factor.values, to.values, to.in_device);
      exec.fence();
    });
  }
  std::unique_ptr<Object> share(void* stream) const override {
    return std::make_unique<FactorizationOf>(
        factors_.share_plan(on_stream<Space>(stream)));
  }

 private:
  template <class View>
  static void write(const Space& exec, const View& from, void* array,
                    bool in_device) {
    using Element = typename View::non_const_value_type;
    auto* const to = static_cast<Element*>(array);
    if (in_device)
      Kokkos::deep_copy(exec, BorrowedArray<Element, Space>(to, from.extent(0)),
                        from);
    else
      Kokkos::deep_copy(exec, BorrowedArray<Element, Host>(to, from.extent(0)),
                        from);
  }
  template <class Index, class View>
  static void fill(const Space& exec, const View& from, void* array,
                   const FactorArrays& to) {
    if (to.index_base == 0) return write(exec, from, array, to.in_device);
    const auto count = static_cast<std::int64_t>(from.extent(0));
    const auto shifted =
        Strata::Detail::with_memory_errors("a copy of a factor", [&] {
          return Strata::Detail::make_unfilled<OwnedArray<Index, Space>>(
              "Strata::C::factor", count);
        });
    Kokkos::deep_copy(exec, shifted, from);
    shift_indices(exec, shifted, to.index_base);
    write(exec, shifted, array, to.in_device);
    exec.fence();
  }

  Factors factors_;
};

}  // namespace StrataC

#endif
