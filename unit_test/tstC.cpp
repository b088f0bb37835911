// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <strata.h>

#include <Kokkos_Core.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "HostMatrix.hpp"
#include "RandomSeed.hpp"
#include "Scalars.hpp"

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Device = Kokkos::DefaultExecutionSpace;
using Wide = std::complex<double>;

template <class Scalar>
constexpr strata_scalar scalar_of() {
  constexpr bool real = std::is_floating_point<Scalar>::value;
  constexpr bool single = std::is_same<RealOf<Scalar>, float>::value;
  return single ? (real ? STRATA_FLOAT : STRATA_COMPLEX_FLOAT)
                : (real ? STRATA_DOUBLE : STRATA_COMPLEX_DOUBLE);
}
template <class Scalar>
Scalar narrow(Wide v) {
  if constexpr (std::is_floating_point<Scalar>::value) {
    return static_cast<Scalar>(v.real());
  } else {
    return Scalar(static_cast<RealOf<Scalar>>(v.real()),
                  static_cast<RealOf<Scalar>>(v.imag()));
  }
}
template <class Scalar>
Scalar random_scalar() {
  std::uniform_real_distribution<double> part(-1, 1);
  const double re = part(Strata::generator());
  return narrow<Scalar>({re, part(Strata::generator())});
}
int random_int(int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(Strata::generator());
}

/// An array in host or device memory, that a test fills and reads on the host.
template <class Element>
class Buffer {
 public:
  Buffer(strata_memory memory, const std::vector<Element>& elements)
      : in_device_(memory == STRATA_DEVICE),
        host_("host", elements.size() + 1),
        device_("device", elements.size() + 1) {
    std::copy(elements.begin(), elements.end(), host_.data());
    Kokkos::deep_copy(device_, host_);
    size_ = elements.size();
  }
  Element* data() const { return in_device_ ? device_.data() : host_.data(); }
  std::vector<Element> read() const {
    if (in_device_) {
      Kokkos::fence();
      Kokkos::deep_copy(host_, device_);
    }
    return {host_.data(), host_.data() + size_};
  }

 private:
  bool in_device_;
  std::size_t size_;
  Kokkos::View<Element*, Kokkos::HostSpace> host_;
  Kokkos::View<Element*, typename Device::memory_space> device_;
};

/// A random matrix with a dominant diagonal; hermitian, or one triangle of it.
enum class Shape { lower, upper, full, hermitian };
template <class Scalar>
HostMatrix<Scalar> random_matrix(int n, Shape shape, int per_row = 4) {
  std::map<std::pair<int, int>, Scalar> entries;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < per_row; ++k) {
      const int j = random_int(0, n - 1);
      const bool lower = shape == Shape::lower, upper = shape == Shape::upper;
      if (i == j || (lower && j > i) || (upper && j < i)) continue;
      const auto value = random_scalar<Scalar>();
      entries[{i, j}] = value;
      if (shape == Shape::hermitian) entries[{j, i}] = conjugate(value);
    }
    const double size = 4.0 * per_row + random_int(0, 3);
    entries[{i, i}] = narrow<Scalar>({size, 0});
  }
  HostMatrix<Scalar> A;
  A.rows = A.columns = n;
  A.row_map.assign(static_cast<std::size_t>(n) + 1, 0);
  for (const auto& [at, value] : entries) {
    ++A.row_map[static_cast<std::size_t>(at.first) + 1];
    A.entries.push_back(at.second);
    A.values.push_back(value);
  }
  for (int i = 0; i < n; ++i)
    A.row_map[static_cast<std::size_t>(i) + 1] +=
        A.row_map[static_cast<std::size_t>(i)];
  return A;
}

/// How a matrix is passed.
struct Form {
  bool wide_row_map = false, wide_columns = false;
  int base = 0;
  strata_memory memory = STRATA_HOST;
};
std::vector<Form> all_forms() {
  std::vector<Form> all;
  for (const bool row_map : {false, true})
    for (const bool columns : {false, true})
      for (const int base : {0, 1})
        for (const strata_memory memory : {STRATA_HOST, STRATA_DEVICE})
          all.push_back({row_map, columns, base, memory});
  return all;
}

/// A handle that is destroyed at the end of its scope.
template <class Handle, strata_status (*destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { EXPECT_EQ(destroy(handle_), STRATA_SUCCESS); }
  operator Handle() const { return handle_; }
  Handle* operator&() { return &handle_; }
  /// Lets it be.
  Handle release() { return std::exchange(handle_, nullptr); }

 private:
  Handle handle_ = nullptr;
};
using OptionSet = Owned<strata_options, strata_options_destroy>;
using Triangular = Owned<strata_triangular, strata_triangular_destroy>;
using Factors = Owned<strata_factorization, strata_factorization_destroy>;
using Krylov = Owned<strata_krylov, strata_krylov_destroy>;
using BareMatrix = Owned<strata_matrix, strata_matrix_destroy>;

/// A matrix in a form, with its arrays.
template <class Scalar>
class Passed {
 public:
  explicit Passed(const HostMatrix<Scalar>& A, const Form& form = {})
      : row_map32_(form.memory, shifted<std::int32_t>(A.row_map, form.base)),
        columns32_(form.memory, shifted<std::int32_t>(A.entries, form.base)),
        row_map64_(form.memory, shifted<std::int64_t>(A.row_map, form.base)),
        columns64_(form.memory, shifted<std::int64_t>(A.entries, form.base)),
        values_(form.memory, A.values) {
    const void* const row_map = form.wide_row_map
                                    ? static_cast<void*>(row_map64_.data())
                                    : row_map32_.data();
    const void* const columns = form.wide_columns
                                    ? static_cast<void*>(columns64_.data())
                                    : columns32_.data();
    EXPECT_EQ(strata_matrix_create(
                  &handle_, A.rows, static_cast<int64_t>(A.entries.size()),
                  row_map, columns, values_.data(),
                  form.wide_row_map ? STRATA_INT64 : STRATA_INT32,
                  form.wide_columns ? STRATA_INT64 : STRATA_INT32, form.base,
                  scalar_of<Scalar>(), form.memory),
              STRATA_SUCCESS)
        << strata_last_error();
  }
  operator strata_matrix() const { return handle_; }
  Scalar* values() const { return values_.data(); }

 private:
  template <class Index>
  static std::vector<Index> shifted(const std::vector<std::int64_t>& from,
                                    int base) {
    std::vector<Index> to;
    for (const auto index : from)
      to.push_back(static_cast<Index>(index + base));
    return to;
  }

  Buffer<std::int32_t> row_map32_, columns32_;
  Buffer<std::int64_t> row_map64_, columns64_;
  Buffer<Scalar> values_;
  BareMatrix handle_;
};

/// op(A) x for the columns of x.
template <class Scalar>
std::vector<Wide> product(const HostMatrix<Scalar>& A, strata_op op,
                          const std::vector<Wide>& x, bool unit = false) {
  std::vector<Wide> b(x.size());
  const auto n = static_cast<std::size_t>(A.rows);
  for (std::size_t c = 0; c < x.size(); c += n)
    for (std::size_t i = 0; i < n; ++i)
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const auto j = static_cast<std::size_t>(A.entries[at]);
        const Wide a = unit && i == j ? Wide(1) : wide(A.values[at]);
        if (op == STRATA_NO_TRANSPOSE)
          b[c + i] += a * x[c + j];
        else
          b[c + j] +=
              (op == STRATA_CONJUGATE_TRANSPOSE ? std::conj(a) : a) * x[c + i];
      }
  return b;
}

template <class Scalar>
std::vector<Wide> random_vectors(std::size_t size) {
  std::vector<Wide> x;
  for (std::size_t i = 0; i < size; ++i)
    x.push_back(wide(random_scalar<Scalar>()));
  return x;
}

/// Vectors with a leading dimension, in either layout.
struct Arrangement {
  std::size_t n, nrhs;
  strata_layout layout;
  std::size_t ld;
  std::size_t size() const {
    return ld * (layout == STRATA_COLUMN_MAJOR ? nrhs : n);
  }
  std::size_t at(std::size_t i, std::size_t j) const {
    return layout == STRATA_COLUMN_MAJOR ? j * ld + i : i * ld + j;
  }
};
std::vector<Arrangement> all_arrangements(std::size_t n) {
  return {{n, 1, STRATA_COLUMN_MAJOR, n},
          {n, 1, STRATA_ROW_MAJOR, 3},
          {n, 3, STRATA_COLUMN_MAJOR, n + 5},
          {n, 4, STRATA_ROW_MAJOR, 4}};
}
template <class Scalar>
std::vector<Scalar> arrange(const std::vector<Wide>& x, const Arrangement& to,
                            Scalar rest) {
  std::vector<Scalar> stored(to.size(), rest);
  for (std::size_t j = 0; j < to.nrhs; ++j)
    for (std::size_t i = 0; i < to.n; ++i)
      stored[to.at(i, j)] = narrow<Scalar>(x[j * to.n + i]);
  return stored;
}
/// The largest difference from x; elements between the vectors must be `rest`.
template <class Scalar>
double difference(const std::vector<Scalar>& stored, const std::vector<Wide>& x,
                  const Arrangement& of, Scalar rest) {
  std::vector<bool> is_used(stored.size());
  double largest = 0;
  for (std::size_t j = 0; j < of.nrhs; ++j)
    for (std::size_t i = 0; i < of.n; ++i) {
      is_used[of.at(i, j)] = true;
      const double d = std::abs(wide(stored[of.at(i, j)]) - x[j * of.n + i]);
      if (!(d <= largest)) largest = d;  // a NaN stays
    }
  for (std::size_t k = 0; k < stored.size(); ++k)
    EXPECT_TRUE(is_used[k] || stored[k] == rest) << "element " << k;
  return largest;
}

template <class Scalar>
constexpr double tolerance = 1000 * epsilon_of<Scalar>;

#define EXPECT_OK(call) EXPECT_EQ(call, STRATA_SUCCESS) << strata_last_error()
#define ASSERT_OK(call) ASSERT_EQ(call, STRATA_SUCCESS) << strata_last_error()

/// That a call fails with a status, and a message that contains a text.
#define EXPECT_FAILS(call, wanted, text)                                   \
  do {                                                                     \
    const strata_status got = call;                                        \
    EXPECT_STREQ(strata_status_name(got), #wanted) << strata_last_error(); \
    if (got != STRATA_SUCCESS) {                                           \
      EXPECT_NE(std::string(strata_last_error()).find(text),               \
                std::string::npos)                                         \
          << strata_last_error();                                          \
    }                                                                      \
  } while (false)

template <class Scalar>
class C : public testing::Test {};
using AllScalars = testing::Types<float, double, Kokkos::complex<float>,
                                  Kokkos::complex<double>>;
TYPED_TEST_SUITE(C, AllScalars);

TYPED_TEST(C, SolvesWithTrianglesOfAllForms) {
  const int n = random_int(100, 200);
  for (const Form& form : all_forms())
    for (const strata_uplo uplo : {STRATA_LOWER, STRATA_UPPER})
      for (const strata_diag diag : {STRATA_NON_UNIT, STRATA_UNIT})
        for (const strata_op op : {STRATA_NO_TRANSPOSE, STRATA_TRANSPOSE,
                                   STRATA_CONJUGATE_TRANSPOSE}) {
          auto A = random_matrix<TypeParam>(
              n, uplo == STRATA_LOWER ? Shape::lower : Shape::upper, 2);
          // With ones on the diagonal the others have to be small.
          if (diag == STRATA_UNIT)
            for (auto& value : A.values)
              value *= TypeParam(RealOf<TypeParam>(0.25));
          const Passed<TypeParam> passed(A, form);
          OptionSet options;
          EXPECT_OK(strata_options_create(&options));
          const char* const names[] = {"none", "transpose",
                                       "conjugate_transpose"};
          EXPECT_OK(strata_options_set_text(options, "op", names[op]));
          Triangular solver;
          ASSERT_OK(strata_triangular_create(&solver, passed, uplo, diag,
                                             options, nullptr));
          const auto arrangements =
              all_arrangements(static_cast<std::size_t>(n));
          const auto& of = arrangements[static_cast<std::size_t>(
              random_int(0, static_cast<int>(arrangements.size()) - 1))];
          const auto x = random_vectors<TypeParam>(of.n * of.nrhs);
          const auto rest = random_scalar<TypeParam>();
          const Buffer<TypeParam> b(
              form.memory,
              arrange(product(A, op, x, diag == STRATA_UNIT), of, rest)),
              got(form.memory, std::vector<TypeParam>(of.size(), rest));
          const auto ld = static_cast<int64_t>(of.ld);
          const auto nrhs = static_cast<int64_t>(of.nrhs);
          ASSERT_OK(strata_triangular_solve(solver, b.data(), ld, got.data(),
                                            ld, nrhs, of.layout, nullptr));
          EXPECT_LE(difference(got.read(), x, of, rest), tolerance<TypeParam>);
          // In place.
          ASSERT_OK(strata_triangular_solve(solver, b.data(), ld, b.data(), ld,
                                            nrhs, of.layout, nullptr));
          EXPECT_LE(difference(b.read(), x, of, rest), tolerance<TypeParam>);
        }
}

/// The largest error of a solve by any handle for x, of which `b` is made.
template <class Scalar, class Solve>
double error_of_solve(const std::vector<Wide>& b, const std::vector<Wide>& x,
                      strata_memory memory, const Solve& solve) {
  const Arrangement of{x.size(), 1, STRATA_COLUMN_MAJOR, x.size()};
  const Buffer<Scalar> rhs(memory, arrange(b, of, Scalar(0))),
      got(memory, std::vector<Scalar>(x.size()));
  EXPECT_OK(solve(rhs.data(), got.data()));
  return difference(got.read(), x, of, Scalar(0));
}
template <class Scalar>
double error_of_triangle(strata_triangular solver, const HostMatrix<Scalar>& A,
                         strata_memory memory) {
  const auto x = random_vectors<Scalar>(static_cast<std::size_t>(A.rows));
  return error_of_solve<Scalar>(product(A, STRATA_NO_TRANSPOSE, x), x, memory,
                                [&](const Scalar* b, Scalar* got) {
                                  return strata_triangular_solve(
                                      solver, b, A.rows, got, A.rows, 1,
                                      STRATA_COLUMN_MAJOR, nullptr);
                                });
}

TYPED_TEST(C, UpdatesATriangularSolver) {
  const int n = 150;
  for (const Form& form : all_forms()) {
    auto A = random_matrix<TypeParam>(n, Shape::lower);
    Triangular solver, other;
    OptionSet options;
    EXPECT_OK(strata_options_create(&options));
    EXPECT_OK(strata_options_set_integer(options, "enqueue_updates", 1));
    ASSERT_OK(strata_triangular_create(&solver, Passed<TypeParam>(A, form),
                                       STRATA_LOWER, STRATA_NON_UNIT, options,
                                       nullptr));
    ASSERT_OK(strata_triangular_share(solver, &other, nullptr));
    for (auto& value : A.values) value *= TypeParam(RealOf<TypeParam>(-1.5));
    EXPECT_OK(strata_triangular_update_values(other, Passed<TypeParam>(A, form),
                                              nullptr));
    EXPECT_LE(error_of_triangle<TypeParam>(solver, A, form.memory),
              tolerance<TypeParam>);
    EXPECT_LE(error_of_triangle<TypeParam>(other, A, form.memory),
              tolerance<TypeParam>);

    const auto B = random_matrix<TypeParam>(n, Shape::lower);
    EXPECT_FAILS(strata_triangular_update_values(
                     solver, Passed<TypeParam>(B, form), nullptr),
                 STRATA_ERROR_PATTERN_MISMATCH, "Strata: ");
    EXPECT_LE(error_of_triangle<TypeParam>(solver, A, form.memory),
              tolerance<TypeParam>);
    EXPECT_OK(strata_triangular_update_pattern(
        solver, Passed<TypeParam>(B, form), nullptr));
    EXPECT_LE(error_of_triangle<TypeParam>(other, B, form.memory),
              tolerance<TypeParam>);
    auto C = B;
    for (auto& value : C.values) value *= TypeParam(2);
    const Buffer<TypeParam> doubled(form.memory, C.values);
    EXPECT_OK(strata_triangular_enqueue_values(other, doubled.data(), nullptr));
    EXPECT_LE(error_of_triangle<TypeParam>(solver, C, form.memory),
              tolerance<TypeParam>);
    EXPECT_FAILS(strata_triangular_update_pattern(
                     solver,
                     Passed<TypeParam>(
                         random_matrix<TypeParam>(n + 1, Shape::lower), form),
                     nullptr),
                 STRATA_ERROR_SIZE_MISMATCH, std::to_string(n + 1));
  }
}

TYPED_TEST(C, EnqueuesValues) {
  const int n = 150;
  for (const strata_memory memory : {STRATA_HOST, STRATA_DEVICE}) {
    auto A = random_matrix<TypeParam>(n, Shape::lower);
    OptionSet options;
    EXPECT_OK(strata_options_create(&options));
    EXPECT_OK(strata_options_set_integer(options, "enqueue_updates", 1));
    const Form form{false, false, 0, memory};
    const Passed<TypeParam> passed(A, form);
    Triangular solver;
    ASSERT_OK(strata_triangular_create(&solver, passed, STRATA_LOWER,
                                       STRATA_NON_UNIT, options, nullptr));
    EXPECT_OK(strata_options_set_integer(options, "fill_level", 1));
    Factors factors;
    ASSERT_OK(strata_factorization_create(
        &factors, passed, STRATA_INCOMPLETE_LU, options, nullptr));

    for (auto& value : A.values) value *= TypeParam(2);
    const Buffer<TypeParam> good(memory, A.values);
    EXPECT_OK(strata_triangular_enqueue_values(solver, good.data(), nullptr));
    EXPECT_OK(
        strata_factorization_enqueue_values(factors, good.data(), nullptr));
    strata_fault fault = -1;
    int64_t row = -2;
    EXPECT_OK(strata_triangular_fault(solver, &fault, &row, nullptr));
    EXPECT_EQ(fault, STRATA_FAULT_NONE);
    EXPECT_EQ(row, -1);
    EXPECT_LE(error_of_triangle<TypeParam>(solver, A, memory),
              tolerance<TypeParam>);
    EXPECT_OK(strata_factorization_fault(factors, &fault, nullptr, nullptr));
    EXPECT_EQ(fault, STRATA_FAULT_NONE);

    const int bad_row = random_int(0, n - 1);
    A.at(bad_row, bad_row) = TypeParam(0);
    const Buffer<TypeParam> bad(memory, A.values);
    EXPECT_OK(strata_triangular_enqueue_values(solver, bad.data(), nullptr));
    EXPECT_OK(strata_triangular_fault(solver, &fault, &row, nullptr));
    EXPECT_EQ(fault, STRATA_FAULT_ZERO_DIAGONAL);
    EXPECT_EQ(row, bad_row);
    EXPECT_OK(
        strata_factorization_enqueue_values(factors, bad.data(), nullptr));
    EXPECT_OK(strata_factorization_fault(factors, &fault, &row, nullptr));
    EXPECT_NE(fault, STRATA_FAULT_NONE);
    EXPECT_EQ(row, bad_row);
    EXPECT_TRUE(std::isnan(error_of_triangle<TypeParam>(solver, A, memory)));
  }
}

/// A factor as a plain matrix, in any form.
template <class Scalar>
HostMatrix<Scalar> copied_factor(strata_factorization factors, std::int64_t n,
                                 strata_uplo which, const Form& form) {
  int64_t entries = -1;
  EXPECT_OK(strata_factorization_entries(factors, which, &entries));
  const auto count = static_cast<std::size_t>(entries);
  HostMatrix<Scalar> made;
  made.rows = made.columns = n;
  const auto copy = [&](auto zero) {
    using Index = decltype(zero);
    const Buffer<Index> row_map(
        form.memory, std::vector<Index>(static_cast<std::size_t>(n) + 1)),
        columns(form.memory, std::vector<Index>(count));
    const Buffer<Scalar> values(form.memory, std::vector<Scalar>(count));
    EXPECT_OK(strata_factorization_copy(
        factors, which, row_map.data(), columns.data(), values.data(),
        sizeof(Index) == 8 ? STRATA_INT64 : STRATA_INT32, form.base,
        form.memory, nullptr));
    made.row_map.clear();
    for (const auto k : row_map.read()) made.row_map.push_back(k - form.base);
    for (const auto k : columns.read()) made.entries.push_back(k - form.base);
    made.values = values.read();
  };
  if (form.wide_row_map)
    copy(std::int64_t());
  else
    copy(std::int32_t());
  EXPECT_EQ(made.row_map.back(), entries);
  return made;
}

TYPED_TEST(C, FactorsAreThoseOfTheClass) {
  const int n = 120;
  for (const Form& form : all_forms())
    for (const strata_factors kind :
         {STRATA_INCOMPLETE_CHOLESKY, STRATA_INCOMPLETE_LU,
          STRATA_INCOMPLETE_LDLH}) {
      const auto A = random_matrix<TypeParam>(
          n, kind == STRATA_INCOMPLETE_LU ? Shape::full : Shape::hermitian, 2);
      const int level = random_int(0, 2);
      OptionSet options;
      EXPECT_OK(strata_options_create(&options));
      EXPECT_OK(strata_options_set_integer(options, "fill_level", level));
      Factors factors;
      ASSERT_OK(strata_factorization_create(
          &factors, Passed<TypeParam>(A, form), kind, options, nullptr));
      Strata::IncompleteFactorizationOptions of_class;
      of_class.fill_level = level;
      // In the same space, for the same bits.
      const auto compare = [&](auto space) {
        using Space = decltype(space);
        using Matrix =
            KokkosSparse::CrsMatrix<TypeParam, int, typename Space::device_type,
                                    void, int>;
        const Strata::IncompleteFactorization<TypeParam, Space> wanted(
            space, A.template to_device<Matrix>(),
            static_cast<Strata::Factorization>(kind), of_class);
        for (const strata_uplo which : {STRATA_LOWER, STRATA_UPPER}) {
          const HostMatrix<TypeParam> want(
              which == STRATA_LOWER ? wanted.template lower<Matrix>(space)
                                    : wanted.template upper<Matrix>(space));
          const auto got = copied_factor<TypeParam>(factors, n, which, form);
          EXPECT_EQ(got.row_map, want.row_map);
          EXPECT_EQ(got.entries, want.entries);
          EXPECT_EQ(std::memcmp(got.values.data(), want.values.data(),
                                want.values.size() * sizeof(TypeParam)),
                    0);
        }
      };
      if (form.memory == STRATA_DEVICE)
        compare(Device());
      else
        compare(Host());
    }
}

/// The product of both factors with x, or of its transpose.
template <class Scalar>
std::vector<Wide> factored_product(const HostMatrix<Scalar>& L,
                                   const HostMatrix<Scalar>& U, strata_op op,
                                   const std::vector<Wide>& x) {
  return op == STRATA_NO_TRANSPOSE ? product(L, op, product(U, op, x))
                                   : product(U, op, product(L, op, x));
}

TYPED_TEST(C, SolvesWithFactors) {
  const int n = 150;
  for (const Form& form : all_forms()) {
    auto A = random_matrix<TypeParam>(n, Shape::full, 3);
    OptionSet options;
    EXPECT_OK(strata_options_create(&options));
    EXPECT_OK(strata_options_set_integer(options, "transpose", 1));
    EXPECT_OK(strata_options_set_integer(options, "max_right_hand_sides", 3));
    Factors factors, shared;
    ASSERT_OK(strata_factorization_create(&factors, Passed<TypeParam>(A, form),
                                          STRATA_INCOMPLETE_LU, options,
                                          nullptr));
    ASSERT_OK(strata_factorization_share(factors, &shared, nullptr));
    for (int round = 0; round < 2; ++round) {
      const auto L = copied_factor<TypeParam>(factors, n, STRATA_LOWER, form);
      const auto U = copied_factor<TypeParam>(factors, n, STRATA_UPPER, form);
      // (L U)_ij = a_ij wherever A stores an entry.
      for (int j = 0; j < n; ++j) {
        std::vector<Wide> unit(static_cast<std::size_t>(n));
        unit[static_cast<std::size_t>(j)] = 1;
        const auto column = factored_product(L, U, STRATA_NO_TRANSPOSE, unit);
        for (int i = 0; i < n; ++i)
          if (const auto* const a = A.find(i, j)) {
            EXPECT_LE(std::abs(column[static_cast<std::size_t>(i)] - wide(*a)),
                      tolerance<TypeParam>);
          }
      }
      for (const strata_op op :
           {STRATA_NO_TRANSPOSE, STRATA_TRANSPOSE, STRATA_CONJUGATE_TRANSPOSE})
        for (const Arrangement& of :
             all_arrangements(static_cast<std::size_t>(n))) {
          const auto x = random_vectors<TypeParam>(of.n * of.nrhs);
          std::vector<Wide> b;
          for (std::size_t c = 0; c < of.nrhs; ++c) {
            const auto begin =
                x.begin() + static_cast<std::ptrdiff_t>(c * of.n);
            const auto one = factored_product(L, U, op, {begin, begin + n});
            b.insert(b.end(), one.begin(), one.end());
          }
          const auto rest = random_scalar<TypeParam>();
          const Buffer<TypeParam> rhs(form.memory, arrange(b, of, rest)),
              got(form.memory, std::vector<TypeParam>(of.size(), rest));
          ASSERT_OK(strata_factorization_solve(
              round == 0 ? factors : shared, op, rhs.data(),
              static_cast<int64_t>(of.ld), got.data(),
              static_cast<int64_t>(of.ld), static_cast<int64_t>(of.nrhs),
              of.layout, nullptr));
          EXPECT_LE(difference(got.read(), x, of, rest), tolerance<TypeParam>);
        }
      for (auto& value : A.values) value *= TypeParam(RealOf<TypeParam>(-0.5));
      EXPECT_OK(strata_factorization_update_values(
          factors, Passed<TypeParam>(A, form), nullptr));
    }
  }
}

TYPED_TEST(C, CompleteFillSolvesTheSystem) {
  const int n = 60;
  const auto A = random_matrix<TypeParam>(n, Shape::full);
  OptionSet options;
  EXPECT_OK(strata_options_create(&options));
  EXPECT_OK(strata_options_set_integer(options, "fill_level", n));
  Factors factors;
  ASSERT_OK(strata_factorization_create(
      &factors, Passed<TypeParam>(A), STRATA_INCOMPLETE_LU, options, nullptr));
  const auto x = random_vectors<TypeParam>(n);
  EXPECT_LE(error_of_solve<TypeParam>(
                product(A, STRATA_NO_TRANSPOSE, x), x, STRATA_HOST,
                [&](const TypeParam* b, TypeParam* got) {
                  return strata_factorization_solve(
                      factors, STRATA_NO_TRANSPOSE, b, n, got, n, 1,
                      STRATA_COLUMN_MAJOR, nullptr);
                }),
            tolerance<TypeParam>);
}

TYPED_TEST(C, KrylovMethodsConverge) {
  const int n = 200;
  const double wanted = 100 * epsilon_of<TypeParam>;
  for (const Form& form : all_forms())
    for (const strata_method method :
         {STRATA_CONJUGATE_GRADIENT, STRATA_GMRES, STRATA_BICGSTAB})
      for (const bool preconditioned : {false, true}) {
        const bool cg = method == STRATA_CONJUGATE_GRADIENT;
        auto A = random_matrix<TypeParam>(
            n, cg ? Shape::hermitian : Shape::full, cg ? 2 : 4);
        const Passed<TypeParam> passed(A, form);
        OptionSet options;
        EXPECT_OK(strata_options_create(&options));
        EXPECT_OK(
            strata_options_set_real(options, "relative_tolerance", wanted));
        if (method == STRATA_GMRES) {
          EXPECT_OK(strata_options_set_integer(options, "restart", 40));
        }
        Krylov solver;
        ASSERT_OK(
            strata_krylov_create(&solver, passed, method, options, nullptr));
        Factors M;
        if (preconditioned) {
          ASSERT_OK(strata_factorization_create(
              &M, passed,
              cg ? STRATA_INCOMPLETE_CHOLESKY : STRATA_INCOMPLETE_LU, nullptr,
              nullptr));
        }
        for (int round = 0; round < 2; ++round) {
          const auto x = random_vectors<TypeParam>(n);
          const auto b = product(A, STRATA_NO_TRANSPOSE, x);
          double size = 0;
          for (const auto& element : b) size += std::norm(element);
          strata_krylov_status status = -1;
          int iterations = -1;
          double residual = -1;
          EXPECT_LE(error_of_solve<TypeParam>(
                        b, x, form.memory,
                        [&](const TypeParam* rhs, TypeParam* got) {
                          return strata_krylov_solve(solver, M, rhs, got,
                                                     &status, &iterations,
                                                     &residual, nullptr);
                        }),
                    100 * tolerance<TypeParam>);
          EXPECT_EQ(status, STRATA_CONVERGED);
          EXPECT_GT(iterations, 0);
          EXPECT_LT(iterations, 100);
          EXPECT_GE(residual, 0);
          EXPECT_LE(residual, 2.01 * wanted * std::sqrt(size));
          for (auto& value : A.values) value *= TypeParam(3);
          EXPECT_OK(strata_krylov_update_values(
              solver, Passed<TypeParam>(A, form), nullptr));
        }
      }
}

TEST(CErrors, KrylovSaysHowItEnded) {
  auto A = random_matrix<double>(80, Shape::hermitian);
  const std::vector<double> b(80, 1);
  std::vector<double> x(80);
  strata_krylov_status status = -1;
  OptionSet options;
  EXPECT_OK(strata_options_create(&options));
  EXPECT_OK(strata_options_set_integer(options, "max_iterations", 1));
  {
    Krylov solver;
    ASSERT_OK(strata_krylov_create(&solver, Passed<double>(A), STRATA_BICGSTAB,
                                   options, nullptr));
    EXPECT_OK(strata_krylov_solve(solver, nullptr, b.data(), x.data(), &status,
                                  nullptr, nullptr, nullptr));
    EXPECT_EQ(status, STRATA_MAX_ITERATIONS);
  }
  for (auto& value : A.values) value = -value;
  Krylov solver;
  ASSERT_OK(strata_krylov_create(&solver, Passed<double>(A),
                                 STRATA_CONJUGATE_GRADIENT, nullptr, nullptr));
  std::fill(x.begin(), x.end(), 0);
  EXPECT_OK(strata_krylov_solve(solver, nullptr, b.data(), x.data(), &status,
                                nullptr, nullptr, nullptr));
  EXPECT_EQ(status, STRATA_INDEFINITE_MATRIX);
  x[3] = std::nan("");
  EXPECT_OK(strata_krylov_solve(solver, nullptr, b.data(), x.data(), &status,
                                nullptr, nullptr, nullptr));
  EXPECT_EQ(status, STRATA_NOT_FINITE);

  Factors other;
  ASSERT_OK(strata_factorization_create(
      &other, Passed<float>(random_matrix<float>(80, Shape::full)),
      STRATA_INCOMPLETE_LU, nullptr, nullptr));
  EXPECT_FAILS(strata_krylov_solve(solver, other, b.data(), x.data(), &status,
                                   nullptr, nullptr, nullptr),
               STRATA_ERROR_OPTION, "preconditioner: ");
  EXPECT_FAILS(strata_krylov_solve(solver, nullptr, x.data(), x.data(), &status,
                                   nullptr, nullptr, nullptr),
               STRATA_ERROR_ALIAS, "x: ");
}

// Faults of matrices, by what is done to a good one.

HostMatrix<double> tridiagonal(int n) {
  HostMatrix<double> A;
  A.rows = A.columns = n;
  for (int i = 0; i < n; ++i) {
    for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      A.entries.push_back(j);
      A.values.push_back(i == j ? 4 : -1);
    }
    A.row_map.push_back(static_cast<std::int64_t>(A.entries.size()));
  }
  return A;
}

/// Creates a lower solver and wants an error whose text names the row.
void expect_fault(const HostMatrix<double>& A, const char* wanted,
                  std::int64_t row, bool take_triangle = true) {
  for (const int base : {0, 1}) {
    const Passed<double> passed(A, {false, false, base, STRATA_HOST});
    OptionSet options;
    EXPECT_OK(strata_options_create(&options));
    EXPECT_OK(
        strata_options_set_integer(options, "take_triangle", take_triangle));
    strata_triangular solver = reinterpret_cast<strata_triangular>(1);
    EXPECT_STREQ(
        strata_status_name(strata_triangular_create(
            &solver, passed, STRATA_LOWER, STRATA_NON_UNIT, options, nullptr)),
        wanted);
    EXPECT_EQ(solver, nullptr);
    EXPECT_EQ(strata_last_error_row(), row);
    const std::string text = strata_last_error();
    EXPECT_NE(text.find("row " + std::to_string(row)), std::string::npos)
        << text;
    EXPECT_EQ(text.find("counted from 0 here") != std::string::npos, base == 1)
        << text;
    // The names of strata.h, not those of C++.
    EXPECT_EQ(text.find("::"), std::string::npos) << text;
    EXPECT_EQ(text.find("Uplo"), std::string::npos) << text;
  }
}

TEST(CErrors, NameTheRowOfAMatrix) {
  const int n = 50, row = random_int(2, n - 3);
  const auto good = tridiagonal(n);
  auto A = good;
  A.at(row, row) = 0;
  expect_fault(A, "STRATA_ERROR_ZERO_DIAGONAL", row);
  A = good;
  A.entries[static_cast<std::size_t>(
      A.row_map[static_cast<std::size_t>(row)])] = n;
  expect_fault(A, "STRATA_ERROR_COLUMN_RANGE", row);
  A = good;
  A.entries[static_cast<std::size_t>(A.row_map[static_cast<std::size_t>(row)] +
                                     1)] = row - 1;
  expect_fault(A, "STRATA_ERROR_DUPLICATE_ENTRY", row);
  A = good;
  A.row_map[static_cast<std::size_t>(row) + 1] =
      A.row_map[static_cast<std::size_t>(row)] - 1;
  expect_fault(A, "STRATA_ERROR_ROW_MAP", row);
  expect_fault(good, "STRATA_ERROR_WRONG_TRIANGLE", 0, false);
  // Without its diagonal entry, which is the second of the row.
  A = good;
  const auto at = A.row_map[static_cast<std::size_t>(row)] + 1;
  A.entries.erase(A.entries.begin() + at);
  A.values.erase(A.values.begin() + at);
  for (auto i = static_cast<std::size_t>(row) + 1; i < A.row_map.size(); ++i)
    --A.row_map[i];
  expect_fault(A, "STRATA_ERROR_MISSING_DIAGONAL", row);
}

TEST(CErrors, NewValuesNameTheRow) {
  const int n = 50, row = random_int(0, n - 1);
  auto A = tridiagonal(n);
  OptionSet options;
  EXPECT_OK(strata_options_create(&options));
  EXPECT_OK(strata_options_set_integer(options, "take_triangle", 1));
  Triangular solver;
  ASSERT_OK(strata_triangular_create(&solver, Passed<double>(A), STRATA_LOWER,
                                     STRATA_NON_UNIT, options, nullptr));
  A.at(row, row) = 0;
  EXPECT_FAILS(
      strata_triangular_update_values(solver, Passed<double>(A), nullptr),
      STRATA_ERROR_ZERO_DIAGONAL, "row " + std::to_string(row));
  EXPECT_EQ(strata_last_error_row(), row);
}

TEST(CErrors, FaultsOfFactorisations) {
  const int n = 40, row = random_int(1, n - 2);
  const auto good = tridiagonal(n);
  const auto expect = [&](const HostMatrix<double>& A, strata_factors kind,
                          strata_options options, const char* wanted,
                          std::int64_t at) {
    Factors factors;
    EXPECT_STREQ(strata_status_name(strata_factorization_create(
                     &factors, Passed<double>(A), kind, options, nullptr)),
                 wanted)
        << strata_last_error();
    EXPECT_EQ(strata_last_error_row(), at);
  };
  auto A = good;
  std::swap(A.entries[static_cast<std::size_t>(
                A.row_map[static_cast<std::size_t>(row)])],
            A.entries[static_cast<std::size_t>(
                A.row_map[static_cast<std::size_t>(row)] + 1)]);
  expect(A, STRATA_INCOMPLETE_LU, nullptr, "STRATA_ERROR_UNSORTED_ROW", row);
  // Row 1 less a quarter of row 0 has the pivot 0.
  A = good;
  A.at(1, 1) = 0.25;
  expect(A, STRATA_INCOMPLETE_LU, nullptr, "STRATA_ERROR_FACTORIZATION", 1);
  expect(A, STRATA_INCOMPLETE_CHOLESKY, nullptr, "STRATA_ERROR_INDEFINITE", 1);
  A = good;
  A.at(row, row - 1) = 7;
  expect(A, STRATA_INCOMPLETE_CHOLESKY, nullptr, "STRATA_ERROR_NOT_HERMITIAN",
         row - 1);
  OptionSet single;
  EXPECT_OK(strata_options_create(&single));
  EXPECT_OK(strata_options_set_text(single, "precision", "single"));
  A = good;
  for (auto& value : A.values) value *= 1e60;
  expect(A, STRATA_INCOMPLETE_LU, single, "STRATA_ERROR_PRECISION", 0);
  OptionSet small;
  EXPECT_OK(strata_options_create(&small));
  EXPECT_OK(strata_options_set_integer(small, "max_plan_bytes", 100));
  expect(good, STRATA_INCOMPLETE_LU, small, "STRATA_ERROR_PLAN_MEMORY", -1);
  OptionSet none;
  EXPECT_OK(strata_options_create(&none));
  Factors factors;
  ASSERT_OK(strata_factorization_create(&factors, Passed<double>(good),
                                        STRATA_INCOMPLETE_LU, none, nullptr));
  std::vector<double> b(n, 1), x(n);
  EXPECT_FAILS(
      strata_factorization_solve(factors, STRATA_TRANSPOSE, b.data(), n,
                                 x.data(), n, 1, STRATA_COLUMN_MAJOR, nullptr),
      STRATA_ERROR_OPTION, "op: ");
  EXPECT_FAILS(strata_factorization_enqueue_values(factors, b.data(), nullptr),
               STRATA_ERROR_OPTION, "enqueue_updates");
  A = tridiagonal(n - 1);
  EXPECT_FAILS(
      strata_factorization_update_values(factors, Passed<double>(A), nullptr),
      STRATA_ERROR_PATTERN_MISMATCH, "Strata: ");
}

/// Good handles of every kind, for calls with bad ones.
struct Handles : testing::Test {
  Handles() : A(tridiagonal(n)), matrix(A), b(n, 1), x(n) {
    EXPECT_OK(strata_options_create(&options));
    EXPECT_OK(strata_options_set_integer(options, "take_triangle", 1));
    EXPECT_OK(strata_triangular_create(&solver, matrix, STRATA_LOWER,
                                       STRATA_NON_UNIT, options, nullptr));
    EXPECT_OK(strata_factorization_create(
        &factors, matrix, STRATA_INCOMPLETE_LU, nullptr, nullptr));
    EXPECT_OK(
        strata_krylov_create(&krylov, matrix, STRATA_GMRES, nullptr, nullptr));
  }
  static constexpr int n = 20;
  HostMatrix<double> A;
  Passed<double> matrix;
  std::vector<double> b, x;
  OptionSet options;
  Triangular solver;
  Factors factors;
  Krylov krylov;

  /// Calls every function that takes a handle with what `as` makes of `from`.
  template <class From>
  void expect_all(From from, strata_status wanted) {
    const auto as = [&](auto* type) {
      return reinterpret_cast<std::remove_pointer_t<decltype(type)>>(from);
    };
    const auto o = as(static_cast<strata_options*>(nullptr));
    const auto m = as(static_cast<strata_matrix*>(nullptr));
    const auto t = as(static_cast<strata_triangular*>(nullptr));
    const auto f = as(static_cast<strata_factorization*>(nullptr));
    const auto k = as(static_cast<strata_krylov*>(nullptr));
    strata_triangular new_t;
    strata_factorization new_f;
    strata_krylov new_k;
    strata_fault fault;
    strata_krylov_status status;
    int64_t count;
    const char* text;
    int indices[n + 1];
    const strata_status all[] = {
        strata_options_set_integer(o, "a", 1),
        strata_options_set_real(o, "a", 1),
        strata_options_set_text(o, "a", "b"),
        strata_matrix_set_values(m, A.values.data()),
        strata_triangular_create(&new_t, m, 0, 0, nullptr, nullptr),
        strata_triangular_solve(t, b.data(), n, x.data(), n, 1, 0, nullptr),
        strata_triangular_update_values(t, matrix, nullptr),
        strata_triangular_update_values(solver, m, nullptr),
        strata_triangular_update_pattern(t, matrix, nullptr),
        strata_triangular_update_pattern(solver, m, nullptr),
        strata_triangular_enqueue_values(t, A.values.data(), nullptr),
        strata_triangular_fault(t, &fault, &count, nullptr),
        strata_triangular_share(t, &new_t, nullptr),
        strata_triangular_report(t, &text),
        strata_factorization_create(&new_f, m, 1, nullptr, nullptr),
        strata_factorization_solve(f, 0, b.data(), n, x.data(), n, 1, 0,
                                   nullptr),
        strata_factorization_update_values(f, matrix, nullptr),
        strata_factorization_update_values(factors, m, nullptr),
        strata_factorization_enqueue_values(f, A.values.data(), nullptr),
        strata_factorization_fault(f, &fault, &count, nullptr),
        strata_factorization_entries(f, 0, &count),
        strata_factorization_copy(f, 0, indices, indices, b.data(), 0, 0, 0,
                                  nullptr),
        strata_factorization_share(f, &new_f, nullptr),
        strata_factorization_report(f, &text),
        strata_krylov_create(&new_k, m, 0, nullptr, nullptr),
        strata_krylov_solve(k, nullptr, b.data(), x.data(), &status, nullptr,
                            nullptr, nullptr),
        strata_krylov_update_values(k, matrix, nullptr),
        strata_krylov_update_values(krylov, m, nullptr),
    };
    for (std::size_t i = 0; i < std::size(all); ++i)
      EXPECT_STREQ(strata_status_name(all[i]), strata_status_name(wanted))
          << "call " << i;
  }
};

TEST_F(Handles, OfOtherKindsAreErrors) {
  expect_all(std::uintptr_t{0}, STRATA_ERROR_NULL_POINTER);
  expect_all(~std::uintptr_t{0}, STRATA_ERROR_HANDLE);
  // One kind for every other: those calls whose kind it is are left out.
  EXPECT_FAILS(strata_triangular_update_values(
                   reinterpret_cast<strata_triangular>(
                       static_cast<strata_factorization>(factors)),
                   matrix, nullptr),
               STRATA_ERROR_HANDLE, "strata_triangular_create");
  EXPECT_FAILS(
      strata_matrix_set_values(
          reinterpret_cast<strata_matrix>(static_cast<strata_options>(options)),
          nullptr),
      STRATA_ERROR_HANDLE, "another kind");
  EXPECT_FAILS(strata_options_set_real(reinterpret_cast<strata_options>(
                                           static_cast<strata_matrix>(matrix)),
                                       "a", 1),
               STRATA_ERROR_HANDLE, "strata_options_create");
  EXPECT_FAILS(strata_krylov_solve(krylov,
                                   reinterpret_cast<strata_factorization>(
                                       static_cast<strata_triangular>(solver)),
                                   b.data(), x.data(), nullptr, nullptr,
                                   nullptr, nullptr),
               STRATA_ERROR_NULL_POINTER, "status");
  EXPECT_FAILS(strata_matrix_destroy(reinterpret_cast<strata_matrix>(
                   static_cast<strata_triangular>(solver))),
               STRATA_ERROR_HANDLE, "another kind");
  // The solver is alive.
  const char* text = nullptr;
  EXPECT_OK(strata_triangular_report(solver, &text));
  EXPECT_NE(std::string(text).find("algorithm: "), std::string::npos);
}

TEST_F(Handles, AreDestroyedOnce) {
  const strata_triangular once = solver.release();
  EXPECT_OK(strata_triangular_destroy(once));
  EXPECT_FAILS(strata_triangular_destroy(once), STRATA_ERROR_HANDLE,
               "no handle that is alive");
  // No new handle is the old one.
  Triangular again;
  ASSERT_OK(strata_triangular_create(&again, matrix, STRATA_LOWER,
                                     STRATA_NON_UNIT, options, nullptr));
  EXPECT_NE(static_cast<strata_triangular>(again), once);
  EXPECT_FAILS(strata_triangular_solve(once, b.data(), n, x.data(), n, 1,
                                       STRATA_COLUMN_MAJOR, nullptr),
               STRATA_ERROR_HANDLE, "solver: ");
  EXPECT_OK(strata_options_destroy(nullptr));
  EXPECT_OK(strata_matrix_destroy(nullptr));
  EXPECT_OK(strata_triangular_destroy(nullptr));
  EXPECT_OK(strata_factorization_destroy(nullptr));
  EXPECT_OK(strata_krylov_destroy(nullptr));
}

TEST_F(Handles, NullPointersAreNamed) {
  strata_krylov_status status;
  EXPECT_FAILS(strata_options_create(nullptr), STRATA_ERROR_NULL_POINTER,
               "options: ");
  EXPECT_FAILS(strata_options_set_integer(options, nullptr, 1),
               STRATA_ERROR_NULL_POINTER, "name: ");
  EXPECT_FAILS(strata_options_set_text(options, "op", nullptr),
               STRATA_ERROR_NULL_POINTER, "value: ");
  const int row_map[] = {0, 1}, columns[] = {0};
  const double values[] = {1};
  BareMatrix made;
  EXPECT_FAILS(strata_matrix_create(nullptr, 1, 1, row_map, columns, values, 0,
                                    0, 0, STRATA_DOUBLE, STRATA_HOST),
               STRATA_ERROR_NULL_POINTER, "matrix: ");
  EXPECT_FAILS(strata_matrix_create(&made, 1, 1, nullptr, columns, values, 0, 0,
                                    0, STRATA_DOUBLE, STRATA_HOST),
               STRATA_ERROR_NULL_POINTER, "row_map: ");
  EXPECT_FAILS(strata_matrix_create(&made, 1, 1, row_map, nullptr, values, 0, 0,
                                    0, STRATA_DOUBLE, STRATA_HOST),
               STRATA_ERROR_NULL_POINTER, "columns: ");
  ASSERT_OK(strata_matrix_create(&made, 1, 1, row_map, columns, nullptr, 0, 0,
                                 0, STRATA_DOUBLE, STRATA_HOST));
  strata_triangular one;
  EXPECT_FAILS(strata_triangular_create(&one, made, STRATA_LOWER,
                                        STRATA_NON_UNIT, nullptr, nullptr),
               STRATA_ERROR_NULL_POINTER, "values: ");
  ASSERT_OK(strata_matrix_set_values(made, values));
  ASSERT_OK(strata_triangular_create(&one, made, STRATA_LOWER, STRATA_NON_UNIT,
                                     nullptr, nullptr));
  EXPECT_OK(strata_triangular_destroy(one));

  EXPECT_FAILS(strata_triangular_create(nullptr, matrix, STRATA_LOWER,
                                        STRATA_NON_UNIT, nullptr, nullptr),
               STRATA_ERROR_NULL_POINTER, "solver: ");
  EXPECT_FAILS(strata_triangular_solve(solver, nullptr, n, x.data(), n, 1,
                                       STRATA_COLUMN_MAJOR, nullptr),
               STRATA_ERROR_NULL_POINTER, "b: ");
  EXPECT_FAILS(strata_triangular_solve(solver, b.data(), n, nullptr, n, 1,
                                       STRATA_COLUMN_MAJOR, nullptr),
               STRATA_ERROR_NULL_POINTER, "x: ");
  EXPECT_FAILS(strata_triangular_share(solver, nullptr, nullptr),
               STRATA_ERROR_NULL_POINTER, "shared: ");
  EXPECT_FAILS(strata_triangular_report(solver, nullptr),
               STRATA_ERROR_NULL_POINTER, "text: ");
  EXPECT_FAILS(
      strata_factorization_create(nullptr, matrix, 1, nullptr, nullptr),
      STRATA_ERROR_NULL_POINTER, "factors: ");
  EXPECT_FAILS(strata_factorization_entries(factors, 0, nullptr),
               STRATA_ERROR_NULL_POINTER, "entries: ");
  EXPECT_FAILS(strata_factorization_copy(factors, 0, nullptr, nullptr, nullptr,
                                         0, 0, 0, nullptr),
               STRATA_ERROR_NULL_POINTER, "row_map: ");
  int indices[n + 1];
  EXPECT_FAILS(strata_factorization_copy(factors, 0, indices, nullptr, nullptr,
                                         0, 0, 0, nullptr),
               STRATA_ERROR_NULL_POINTER, "columns: ");
  EXPECT_FAILS(strata_factorization_share(factors, nullptr, nullptr),
               STRATA_ERROR_NULL_POINTER, "shared: ");
  EXPECT_FAILS(strata_factorization_report(factors, nullptr),
               STRATA_ERROR_NULL_POINTER, "text: ");
  EXPECT_FAILS(strata_krylov_create(nullptr, matrix, 0, nullptr, nullptr),
               STRATA_ERROR_NULL_POINTER, "solver: ");
  EXPECT_FAILS(strata_krylov_solve(krylov, nullptr, nullptr, x.data(), &status,
                                   nullptr, nullptr, nullptr),
               STRATA_ERROR_NULL_POINTER, "b: ");
  EXPECT_FAILS(strata_krylov_solve(krylov, nullptr, b.data(), x.data(), nullptr,
                                   nullptr, nullptr, nullptr),
               STRATA_ERROR_NULL_POINTER, "status: ");
}

TEST_F(Handles, SizesAndNumbersAreChecked) {
  const auto solve = [&](int64_t ldb, int64_t ldx, int64_t nrhs, int layout) {
    return strata_triangular_solve(solver, b.data(), ldb, x.data(), ldx, nrhs,
                                   layout, nullptr);
  };
  EXPECT_FAILS(solve(n - 1, n, 1, STRATA_COLUMN_MAJOR),
               STRATA_ERROR_SIZE_MISMATCH, "ldb: is 19");
  EXPECT_FAILS(solve(n, 0, 1, STRATA_COLUMN_MAJOR), STRATA_ERROR_SIZE_MISMATCH,
               "ldx: is 0");
  EXPECT_FAILS(solve(1, 0, 1, STRATA_ROW_MAJOR), STRATA_ERROR_SIZE_MISMATCH,
               "ldx: is 0");
  EXPECT_FAILS(solve(n, n, -1, STRATA_COLUMN_MAJOR), STRATA_ERROR_SIZE_MISMATCH,
               "nrhs: is -1");
  EXPECT_FAILS(solve(n, n, 1, 2), STRATA_ERROR_OPTION, "layout: is 2");
  EXPECT_OK(strata_triangular_solve(solver, nullptr, n, nullptr, n, 0,
                                    STRATA_COLUMN_MAJOR, nullptr));
  EXPECT_FAILS(strata_triangular_solve(
                   solver, reinterpret_cast<const char*>(b.data()) + 4, n,
                   x.data(), n, 1, STRATA_COLUMN_MAJOR, nullptr),
               STRATA_ERROR_OPTION, "b: is not aligned");
  std::vector<double> both(n + 1);
  EXPECT_FAILS(strata_triangular_solve(solver, both.data(), n, both.data() + 1,
                                       n, 1, STRATA_COLUMN_MAJOR, nullptr),
               STRATA_ERROR_ALIAS, "x: ");
  EXPECT_FAILS(strata_triangular_enqueue_values(solver, b.data(), nullptr),
               STRATA_ERROR_OPTION, "enqueue_updates");

  strata_triangular new_solver;
  EXPECT_FAILS(
      strata_triangular_create(&new_solver, matrix, 7, 0, nullptr, nullptr),
      STRATA_ERROR_OPTION, "uplo: is 7");
  EXPECT_FAILS(
      strata_triangular_create(&new_solver, matrix, 0, -1, nullptr, nullptr),
      STRATA_ERROR_OPTION, "diag: is -1");
  strata_factorization new_factors;
  EXPECT_FAILS(
      strata_factorization_create(&new_factors, matrix, 4, nullptr, nullptr),
      STRATA_ERROR_OPTION, "kind: is 4");
  strata_krylov new_krylov;
  EXPECT_FAILS(strata_krylov_create(&new_krylov, matrix, 3, nullptr, nullptr),
               STRATA_ERROR_OPTION, "method: is 3");
  int64_t count;
  EXPECT_FAILS(strata_factorization_entries(factors, 2, &count),
               STRATA_ERROR_OPTION, "factor: is 2");
  EXPECT_FAILS(strata_factorization_solve(factors, 3, b.data(), n, x.data(), n,
                                          1, STRATA_COLUMN_MAJOR, nullptr),
               STRATA_ERROR_OPTION, "op: is 3");

  const int row_map[] = {0, 1}, columns[] = {0};
  const double values[] = {1};
  const auto create = [&](int64_t rows, int64_t entries, int row_type,
                          int column_type, int base, int scalar, int memory) {
    BareMatrix made;
    return strata_matrix_create(&made, rows, entries, row_map, columns, values,
                                row_type, column_type, base, scalar, memory);
  };
  EXPECT_OK(create(1, 1, 0, 0, 0, 1, 0));
  EXPECT_FAILS(create(-1, 1, 0, 0, 0, 1, 0), STRATA_ERROR_SIZE_MISMATCH,
               "rows: is -1");
  EXPECT_FAILS(create(1, -2, 0, 0, 0, 1, 0), STRATA_ERROR_SIZE_MISMATCH,
               "entries: is -2");
  EXPECT_FAILS(create(2147483647, 1, 0, 0, 0, 1, 0),
               STRATA_ERROR_INDEX_OVERFLOW, "2147483646");
  EXPECT_FAILS(create(1, 1, 2, 0, 0, 1, 0), STRATA_ERROR_OPTION,
               "row_map_type: is 2");
  EXPECT_FAILS(create(1, 1, 0, -1, 0, 1, 0), STRATA_ERROR_OPTION,
               "columns_type: is -1");
  EXPECT_FAILS(create(1, 1, 0, 0, 2, 1, 0), STRATA_ERROR_OPTION,
               "index_base: is 2");
  EXPECT_FAILS(create(1, 1, 0, 0, 0, 4, 0), STRATA_ERROR_OPTION,
               "scalar: is 4");
  EXPECT_FAILS(create(1, 1, 0, 0, 0, 1, 5), STRATA_ERROR_OPTION,
               "memory: is 5");

  const auto other = random_matrix<float>(n, Shape::lower);
  EXPECT_FAILS(
      strata_triangular_update_values(solver, Passed<float>(other), nullptr),
      STRATA_ERROR_OPTION, "scalar type");
}

TEST_F(Handles, OptionsAreChecked) {
  const auto create = [&](auto&& set) {
    OptionSet own;
    EXPECT_OK(strata_options_create(&own));
    EXPECT_OK(strata_options_set_integer(own, "take_triangle", 1));
    EXPECT_OK(set(own));
    Triangular made;
    return strata_triangular_create(&made, matrix, STRATA_LOWER,
                                    STRATA_NON_UNIT, own, nullptr);
  };
  const auto integer = [&](const char* name, int64_t value) {
    return create([=](strata_options own) {
      return strata_options_set_integer(own, name, value);
    });
  };
  const auto text = [&](const char* name, const char* value) {
    return create([=](strata_options own) {
      return strata_options_set_text(own, name, value);
    });
  };
  EXPECT_OK(text("algorithm", "sync_free"));
  EXPECT_OK(text("space", "device"));
  EXPECT_OK(text("space", "host"));
  EXPECT_FAILS(text("algorithm", "none"), STRATA_ERROR_OPTION,
               "automatic, substitution");
  EXPECT_FAILS(integer("algorithm", 2), STRATA_ERROR_OPTION,
               "strata_options_set_text");
  EXPECT_FAILS(integer("restart", 2), STRATA_ERROR_OPTION,
               "'restart' is no option of a triangular solver");
  EXPECT_FAILS(integer("take_triangle", 2), STRATA_ERROR_OPTION, "0 or 1");
  EXPECT_FAILS(text("merged_levels", "2"), STRATA_ERROR_OPTION,
               "strata_options_set_integer");
  EXPECT_FAILS(integer("merged_levels", 1ll << 40), STRATA_ERROR_OPTION,
               "2147483647");
  EXPECT_FAILS(integer("max_plan_bytes", -1), STRATA_ERROR_OPTION,
               "max_plan_bytes: is -1");
  EXPECT_FAILS(integer("max_right_hand_sides", 0), STRATA_ERROR_OPTION,
               "max_right_hand_sides");
  EXPECT_FAILS(create([](strata_options own) {
                 return strata_options_set_real(own, "merged_levels", 1);
               }),
               STRATA_ERROR_OPTION, "is a real");

  // A real may be whole, and the last value counts.
  OptionSet own;
  EXPECT_OK(strata_options_create(&own));
  EXPECT_OK(strata_options_set_real(own, "shift", -1));
  EXPECT_OK(strata_options_set_integer(own, "shift", 0));
  EXPECT_OK(strata_options_set_real(own, "symmetry_tolerance", 0.5));
  EXPECT_OK(strata_options_set_text(own, "order", "automatic"));
  Factors made;
  ASSERT_OK(strata_factorization_create(
      &made, matrix, STRATA_INCOMPLETE_CHOLESKY, own, nullptr));
  const char* report = nullptr;
  EXPECT_OK(strata_factorization_report(made, &report));
  EXPECT_NE(std::string(report).find("kind: incomplete_cholesky"),
            std::string::npos)
      << report;
  OptionSet negative;
  EXPECT_OK(strata_options_create(&negative));
  EXPECT_OK(strata_options_set_real(negative, "shift", -1));
  strata_factorization none;
  EXPECT_FAILS(strata_factorization_create(&none, matrix, STRATA_INCOMPLETE_LU,
                                           negative, nullptr),
               STRATA_ERROR_OPTION, "shift: ");
}

TEST(CThreads, HaveSolversAndTextsOfTheirOwn) {
  const int n = 2000;
  const auto A = random_matrix<double>(n, Shape::lower);
  OptionSet options;
  EXPECT_OK(strata_options_create(&options));
  // By teams of all threads of Kokkos.
  EXPECT_OK(strata_options_set_text(options, "algorithm", "sync_free"));
  const Passed<double> passed(A);
  Triangular solver;
  ASSERT_OK(strata_triangular_create(&solver, passed, STRATA_LOWER,
                                     STRATA_NON_UNIT, options, nullptr));
  const auto solve = [&](strata_triangular with, int thread,
                         std::vector<double>& x) {
    const std::vector<double> b(n, thread + 1);
    return strata_triangular_solve(with, b.data(), n, x.data(), n, 1,
                                   STRATA_COLUMN_MAJOR, nullptr);
  };
  std::vector<std::vector<double>> wanted(4, std::vector<double>(n));
  for (int t = 0; t < 4; ++t)
    EXPECT_OK(solve(solver, t, wanted[static_cast<std::size_t>(t)]));
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      int& count = wrong[static_cast<std::size_t>(t)];
      for (int round = 0; round < 20; ++round) {
        std::vector<double> x(n);
        strata_triangular own = nullptr;
        if (round % 2 == 0) {
          count += strata_triangular_share(solver, &own, nullptr) != 0;
        } else {
          count +=
              strata_triangular_create(&own, passed, STRATA_LOWER,
                                       STRATA_NON_UNIT, options, nullptr) != 0;
        }
        count += solve(own, t, x) != 0;
        count += x != wanted[static_cast<std::size_t>(t)];
        count += strata_triangular_destroy(own) != 0;
        count += strata_triangular_solve(solver, nullptr, -t - 100, nullptr, n,
                                         1, STRATA_COLUMN_MAJOR,
                                         nullptr) != STRATA_ERROR_SIZE_MISMATCH;
        const std::string text = "ldb: is " + std::to_string(-t - 100);
        count +=
            std::string(strata_last_error()).find(text) == std::string::npos;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST(CLibrary, LeavesTheProgramsKokkosAlone) {
  EXPECT_EQ(strata_version(), STRATA_VERSION);
  EXPECT_OK(strata_initialize());
  strata_options handle;
  ASSERT_OK(strata_options_create(&handle));
  EXPECT_OK(strata_finalize());
  EXPECT_TRUE(Kokkos::is_initialized());
  EXPECT_FAILS(strata_options_destroy(handle), STRATA_ERROR_HANDLE,
               "strata_finalize");
  // Another beginning.
  Triangular solver;
  const auto A = random_matrix<double>(30, Shape::lower);
  ASSERT_OK(strata_triangular_create(&solver, Passed<double>(A), STRATA_LOWER,
                                     STRATA_NON_UNIT, nullptr, nullptr));
  EXPECT_LE(error_of_triangle<double>(solver, A, STRATA_HOST),
            tolerance<double>);
}

TEST(CLibrary, NamesStatuses) {
  EXPECT_STREQ(strata_status_name(STRATA_SUCCESS), "STRATA_SUCCESS");
  EXPECT_STREQ(strata_status_name(STRATA_ERROR_ZERO_DIAGONAL),
               "STRATA_ERROR_ZERO_DIAGONAL");
  EXPECT_STREQ(strata_status_name(STRATA_ERROR_PATTERN_MISMATCH),
               "STRATA_ERROR_PATTERN_MISMATCH");
  EXPECT_STREQ(strata_status_name(STRATA_ERROR_PATTERN_MISMATCH + 1),
               "unknown");
  EXPECT_STREQ(strata_status_name(-1), "unknown");
}

}  // namespace
