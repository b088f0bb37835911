// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factorisations of new values that the host does not wait for.
#include <Strata_IncompleteFactorization.hpp>
#include <cmath>

#include "FactorizationCase.hpp"
#include "HermitianMatrix.hpp"
#include "KokkosEvents.hpp"

namespace {

using Strata::Algorithm;
using Strata::Factorization;
using Strata::Op;
using Strata::UpdateFault;
using Strata::UpdateStatus;
using Strata::SolverTest::KokkosEvents;
using Options = Strata::FactorizationCase;
using Memory = Device::memory_space;

constexpr Op all_ops[] = {Op::none, Op::transpose, Op::conjugate_transpose};
constexpr Factorization all_kinds[] = {Factorization::incomplete_lu,
                                       Factorization::incomplete_cholesky};

/// Options that change what is factorised.
struct Variant {
  int fill_level;
  double small_pivot_threshold, shift;

  std::string name() const {
    return "level " + std::to_string(fill_level) + ", threshold " +
           std::to_string(small_pivot_threshold) + ", shift " +
           std::to_string(shift);
  }
  Options of(Options options) const {
    options.fill_level = fill_level;
    options.small_pivot_threshold = small_pivot_threshold;
    options.shift = shift;
    return options;
  }
};
constexpr Variant all_variants[] = {{1, 0, 0},          {2, 0, 0.125},
                                    {0, 0.0625, 0},     {1, 0.0625, 0},
                                    {0, 0.0625, 0.125}, {2, 0.0625, 0.125}};

template <class Scalar>
struct EnqueueFactors : testing::Test {
  using Host = HostMatrix<Scalar>;
  using Factors = Strata::IncompleteFactorization<Scalar, Device>;
  using Real = RealOf<Scalar>;
  static constexpr int columns = 3;

  EnqueueFactors()
      : pattern(Strata::gallery<Crs<Scalar>>(Device(), "triangulated:9x7")) {}

  /// Values with a dominant diagonal, Hermitian for Cholesky.
  Host random_values(Factorization kind) {
    Host made = pattern;
    for (std::int64_t i = 0; i < made.rows; ++i)
      for (auto k = made.row_map[i]; k < made.row_map[i + 1]; ++k) {
        const auto j = made.entries[k];
        made.values[k] = random_number<Scalar>();
        if (i == j)
          made.values[k] =
              Scalar(static_cast<Real>(14 + wide(made.values[k]).real()));
        else if (kind == Factorization::incomplete_cholesky && j < i)
          made.values[k] = conjugate(*made.find(j, i));
      }
    return made;
  }
  /// Where the options replace small pivots, some are. Then entries beside the
  /// diagonal are so small that those that replaced pivots make are, too.
  Host random_values(Factorization kind, const Options& options) {
    Host made = random_values(kind);
    if (options.small_pivot_threshold == 0) return made;
    for (std::int64_t i = 0; i < made.rows; ++i)
      for (auto k = made.row_map[i]; k < made.row_map[i + 1]; ++k)
        if (made.entries[k] != i) made.values[k] *= Real(0.125);
    // Row 0 has nothing to eliminate, so that its pivot is this one.
    made.at(0, 0) = Scalar(static_cast<Real>(1e-6));
    made.at(7, 7) = Scalar(0);
    made.at(31, 31) = Scalar(static_cast<Real>(-1e-6));
    return made;
  }
  static Options options_of(Factorization kind, bool enqueue) {
    Options options;
    options.kind = kind;
    options.transpose = true;
    options.shift = 0.125;
    options.triangular.max_right_hand_sides = columns;
    options.enqueue_updates = enqueue;
    return options;
  }
  static Factors factorise(const Host& A, const Options& options) {
    return Factors(Device(), A.template to_device<Crs<Scalar>>(), options.kind,
                   options);
  }
  /// The matrix is held until the next one is.
  const Crs<Scalar>& held(const Host& A) {
    Kokkos::fence();
    return held_ = A.template to_device<Crs<Scalar>>();
  }
  static UpdateStatus status_of(const Factors& factors) {
    Kokkos::fence();
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                               factors.update_status())();
  }

  /// For one right-hand side and for several, with every op.
  std::vector<Scalar> applied(const Factors& factors) const {
    std::vector<Scalar> all;
    for (const Op op : all_ops)
      for (const int k : {1, columns}) {
        const Kokkos::View<Scalar**, Kokkos::LayoutLeft, Memory> b(
            "b", pattern.rows, k),
            x("x", pattern.rows, k);
        Kokkos::deep_copy(b, Scalar(1));
        factors.apply(Device(), b, x, op);
        Kokkos::fence();
        const auto host =
            Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
        all.insert(all.end(), host.data(), host.data() + host.size());
      }
    return all;
  }
  static void expect_all_nan(const std::vector<Scalar>& x) {
    for (const auto& v : x) ASSERT_TRUE(std::isnan(wide(v).real()));
  }
  static std::vector<Scalar> factors_of(const Factors& factors) {
    auto all = Host(factors.lower(Device())).values;
    const auto upper = Host(factors.upper(Device())).values;
    all.insert(all.end(), upper.begin(), upper.end());
    return all;
  }

  /// What an update that waits raises.
  UpdateStatus raised(Factors& factors, const Host& A) {
    UpdateStatus found{UpdateFault::none, 0, -1};
    const auto set = [&](UpdateFault fault, std::int64_t row) {
      found = {fault, 0, row};
    };
    try {
      factors.update_values(Device(), A.template to_device<Crs<Scalar>>());
    } catch (const Strata::ZeroDiagonalError& error) {
      set(UpdateFault::zero_diagonal, error.row());
    } catch (const Strata::NotHermitianError& error) {
      set(UpdateFault::not_hermitian, error.row());
    } catch (const Strata::IndefiniteError& error) {
      set(UpdateFault::not_positive, error.row());
    } catch (const Strata::FactorizationError& error) {
      const bool zero = error.problem().find("pivot zero") != std::string::npos;
      set(zero ? UpdateFault::zero_pivot : UpdateFault::not_finite,
          error.row());
    }
    return found;
  }

  /// Matrices with one fault and with several, and the faults that there have
  /// to be among them.
  std::vector<Host> bad_matrices(Factorization kind) {
    std::vector<Host> all;
    const auto add = [&](const auto& spoil) {
      all.push_back(random_values(kind));
      spoil(all.back());
    };
    const auto zero_diagonal = [](Host& A) { A.at(7, 7) = Scalar(0); };
    const auto not_finite = [](Host& A) {
      A.at(40, 40) = Scalar(static_cast<Real>(std::nan("")));
    };
    const auto negative = [](Host& A) { A.at(30, 30) = -A.at(30, 30); };
    const auto not_hermitian = [](Host& A) {
      A.at(A.entries[A.row_map[1] - 1], 0) += Scalar(1);
    };
    // Row `next` less row 0 has nothing left on the diagonal, shift included.
    const auto zero_pivot = [](Host& A) {
      const auto next = A.entries[A.row_map[0] + 1];
      A.at(0, 0) = A.at(next, next) = Scalar(8);
      A.at(0, next) = A.at(next, 0) = Scalar(9);
    };
    // An infinity that the elimination makes.
    const auto overflow = [](Host& A) {
      const bool single = sizeof(Real) == 4;
      const auto next = A.entries[A.row_map[0] + 1];
      A.at(0, 0) = Scalar(static_cast<Real>(single ? 1e-30 : 1e-300));
      A.at(0, next) = A.at(next, 0) =
          Scalar(static_cast<Real>(single ? 1e20 : 1e200));
    };
    add(zero_diagonal);
    add(not_finite);
    add(negative);
    add(not_hermitian);
    add(zero_pivot);
    add(overflow);
    add([&](Host& A) { negative(A), zero_diagonal(A); });
    add([&](Host& A) { zero_pivot(A), negative(A); });
    add([&](Host& A) { overflow(A), negative(A), not_hermitian(A); });
    add([&](Host& A) { not_finite(A), zero_pivot(A); });
    return all;
  }

  Host pattern;

 private:
  Crs<Scalar> held_;
};
TYPED_TEST_SUITE(EnqueueFactors, Scalars);

TYPED_TEST(EnqueueFactors, TakeWhatUpdatesThatWaitTake) {
  for (const auto kind : all_kinds) {
    SCOPED_TRACE(to_string(kind));
    const auto first = this->random_values(kind);
    auto enqueued = this->factorise(first, this->options_of(kind, true));
    auto waiting = this->factorise(first, this->options_of(kind, true));
    const auto copy = enqueued;
    const auto expect_same = [&] {
      EXPECT_EQ(this->applied(enqueued), this->applied(waiting));
      EXPECT_EQ(this->applied(copy), this->applied(waiting));
      EXPECT_EQ(this->factors_of(enqueued), this->factors_of(waiting));
      const auto status = this->status_of(enqueued);
      EXPECT_EQ(status.fault, UpdateFault::none) << to_string(status.fault);
      EXPECT_EQ(status.row, -1);
      EXPECT_EQ(status.unmerged, 0);
    };
    expect_same();
    for (int time = 0; time < 3; ++time) {
      const auto& A = this->held(this->random_values(kind));
      waiting.update_values(Device(), A);
      if (time == 0)
        enqueued.enqueue_update_values(Device(), A.values);
      else
        enqueued.enqueue_update_values(Device(), A);
      expect_same();
    }
    // The factors are those of an object without the option.
    const auto last = this->random_values(kind);
    enqueued.enqueue_update_values(Device(), this->held(last));
    EXPECT_EQ(
        this->factors_of(enqueued),
        this->factors_of(this->factorise(last, this->options_of(kind, false))));
  }
}

/// With fill, replaced pivots and a shift, also through an object that shares
/// the plan, after good values, bad ones, and good ones again.
TYPED_TEST(EnqueueFactors, OfAllOptionsAreThoseOfUpdatesThatWait) {
  for (const auto kind : all_kinds)
    for (const auto& variant : all_variants) {
      SCOPED_TRACE(to_string(kind) + std::string(", ") + variant.name());
      const auto options = variant.of(this->options_of(kind, true));
      const auto values = [&] { return this->random_values(kind, options); };
      const auto first = values();
      auto enqueued = this->factorise(first, options);
      auto waiting = this->factorise(first, options);
      const auto sharer = enqueued.share_plan(Device());
      const auto expect_same = [&] {
        const auto x = this->applied(waiting);
        for (const auto& v : x) ASSERT_FALSE(std::isnan(wide(v).real()));
        EXPECT_EQ(this->applied(enqueued), x);
        EXPECT_EQ(this->applied(sharer), x);
        EXPECT_EQ(this->factors_of(enqueued), this->factors_of(waiting));
        const auto status = this->status_of(enqueued);
        EXPECT_EQ(status.fault, UpdateFault::none) << to_string(status.fault);
        EXPECT_EQ(status.row, -1);
      };
      EXPECT_EQ(enqueued.report().fill_entries > 0, variant.fill_level > 0);
      expect_same();
      for (const bool on_diagonal : {true, false}) {
        const auto good = values();
        waiting.update_values(Device(), this->held(good));
        enqueued.enqueue_update_values(Device(), this->held(good));
        expect_same();
        EXPECT_EQ(waiting.report().replaced_pivots > 0,
                  variant.small_pivot_threshold > 0);

        auto bad = values();
        const auto column =
            on_diagonal ? std::int64_t{40} : bad.entries[bad.row_map[40]];
        bad.at(40, column) =
            TypeParam(static_cast<typename TestFixture::Real>(std::nan("")));
        const auto expected = this->raised(waiting, bad);
        EXPECT_NE(expected.fault, UpdateFault::none);
        enqueued.enqueue_update_values(Device(), this->held(bad));
        this->expect_all_nan(this->applied(sharer));
        this->expect_all_nan(this->applied(enqueued));
        const auto status = this->status_of(enqueued);
        EXPECT_EQ(status.fault, expected.fault) << to_string(status.fault);
        EXPECT_EQ(status.row, expected.row);
        EXPECT_EQ(this->factors_of(enqueued), this->factors_of(waiting))
            << "the last good ones";
      }
      // The factors are those of an object without the option, too.
      const auto last = values();
      waiting.update_values(Device(), this->held(last));
      enqueued.enqueue_update_values(Device(), this->held(last));
      expect_same();
      auto plain = options;
      plain.enqueue_updates = false;
      EXPECT_EQ(this->factors_of(enqueued),
                this->factors_of(this->factorise(last, plain)));
      if (this->HasFailure()) return;
    }
}

TYPED_TEST(EnqueueFactors, GiveNaNAfterBadValues) {
  using Host = HostMatrix<TypeParam>;
  for (const auto kind : all_kinds) {
    SCOPED_TRACE(to_string(kind));
    const Host good = this->random_values(kind);
    auto enqueued = this->factorise(good, this->options_of(kind, true));
    auto waiting = this->factorise(good, this->options_of(kind, false));
    const auto x = this->applied(enqueued);
    const auto factors = this->factors_of(enqueued);
    std::vector<int> count(6, 0);
    for (const Host& bad : this->bad_matrices(kind)) {
      const auto expected = this->raised(waiting, bad);
      if (expected.fault == UpdateFault::none) continue;
      ++count[int(expected.fault)];
      SCOPED_TRACE(to_string(expected.fault) + std::string(" in row ") +
                   std::to_string(expected.row));
      enqueued.enqueue_update_values(Device(), this->held(bad));
      this->expect_all_nan(this->applied(enqueued));
      this->expect_all_nan(this->applied(enqueued));
      const auto status = this->status_of(enqueued);
      EXPECT_EQ(status.fault, expected.fault) << to_string(status.fault);
      EXPECT_EQ(status.row, expected.row);
      EXPECT_EQ(this->factors_of(enqueued), factors) << "the last good ones";
      // One that waits, and throws, changes nothing.
      const auto raised = this->raised(enqueued, bad);
      EXPECT_EQ(raised.fault, expected.fault);
      this->expect_all_nan(this->applied(enqueued));

      if (count[int(expected.fault)] % 2 == 0)
        enqueued.update_values(Device(), this->held(good));
      else
        enqueued.enqueue_update_values(Device(), this->held(good));
      EXPECT_EQ(this->applied(enqueued), x);
      EXPECT_EQ(this->factors_of(enqueued), factors);
      EXPECT_EQ(this->status_of(enqueued).fault, UpdateFault::none);
      if (this->HasFatalFailure()) return;
    }
    const bool cholesky = kind == Factorization::incomplete_cholesky;
    EXPECT_GT(count[int(UpdateFault::zero_diagonal)], 0);
    EXPECT_EQ(count[int(UpdateFault::zero_pivot)] > 0, !cholesky);
    EXPECT_EQ(count[int(UpdateFault::not_finite)] > 0, !cholesky);
    EXPECT_EQ(count[int(UpdateFault::not_hermitian)] > 0, cholesky);
    EXPECT_EQ(count[int(UpdateFault::not_positive)] > 0, cholesky);
  }
}

/// U's entries over their diagonals leave the range of normal numbers, or its
/// diagonals are no good for merged rows.
TYPED_TEST(EnqueueFactors, TakeValuesThatPlansCanNotTake) {
  constexpr bool single = sizeof(typename TestFixture::Real) == 4;
  const auto good = this->random_values(Factorization::incomplete_lu);
  auto apart = good, large = good;
  const auto next = good.entries[good.row_map[0] + 1];
  apart.at(0, 0) = TypeParam(single ? 1e30 : 1e300);
  apart.at(0, next) =
      static_cast<typename TestFixture::Real>(single ? 1e-10 : 1e-20);
  large.at(0, 0) =
      static_cast<typename TestFixture::Real>(single ? 2e38 : 1.2e308);
  Options options = this->options_of(Factorization::incomplete_lu, true),
          plain = options;
  options.shift = plain.shift = 0;
  options.triangular.algorithm = Algorithm::sync_free;
  options.triangular.max_right_hand_sides = 1;
  options.triangular.merged_levels = 2;
  plain.triangular.algorithm = Algorithm::substitution;
  auto enqueued = this->factorise(good, options);
  const auto x = this->applied(enqueued);
  EXPECT_EQ(enqueued.report().upper.merged_levels, 2);
  for (const auto& A : {apart, large}) {
    enqueued.enqueue_update_values(Device(), this->held(A));
    const auto found = this->applied(enqueued);
    const auto status = this->status_of(enqueued);
    EXPECT_EQ(status.fault, UpdateFault::none);
    if (A.values == large.values) {
      EXPECT_EQ(status.unmerged, 1);
    }
    const auto expected = this->applied(this->factorise(A, plain));
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_LE(
          std::abs(wide(found[i]) - wide(expected[i])),
          1e3 * std::numeric_limits<typename TestFixture::Real>::epsilon())
          << i;
    enqueued.enqueue_update_values(Device(), this->held(good));
    EXPECT_EQ(this->applied(enqueued), x);
    EXPECT_EQ(this->status_of(enqueued).unmerged, 0);
  }
}

TYPED_TEST(EnqueueFactors, NeitherWaitNorAllocateNorCopy) {
  for (const auto kind : all_kinds)
    for (const auto& variant :
         {Variant{0, 0, 0.125}, Variant{1, 0.0625, 0.125}}) {
      const auto options = variant.of(this->options_of(kind, true));
      const auto values = [&] { return this->random_values(kind, options); };
      auto factors = this->factorise(values(), options);
      const auto& A = this->held(values());
      factors.update_values(Device(), A);
      const Device exec;
      exec.fence();
      const KokkosEvents events(Memory::name());
      factors.enqueue_update_values(exec, A);
      factors.enqueue_update_values(exec, A.values);
      const auto found = events.so_far();
      EXPECT_EQ(found.fences, 0) << found.last;
      EXPECT_EQ(found.allocations, 0) << found.last;
      EXPECT_EQ(found.copies, 0) << found.last;
    }
}

TYPED_TEST(EnqueueFactors, AreRefusedBeforeAnythingIsEnqueued) {
  const auto kind = Factorization::incomplete_lu;
  const auto good = this->random_values(kind);
  const auto& A = this->held(good);
  typename TestFixture::Factors empty;
  EXPECT_THROW(empty.enqueue_update_values(Device(), A), Strata::HandleError);
  EXPECT_THROW(empty.enqueue_update_values(Device(), A.values),
               Strata::HandleError);
  EXPECT_THROW(empty.update_status(), Strata::HandleError);
  auto without = this->factorise(good, this->options_of(kind, false));
  EXPECT_THROW(without.enqueue_update_values(Device(), A), Strata::OptionError);
  EXPECT_THROW(without.enqueue_update_values(Device(), A.values),
               Strata::OptionError);
  EXPECT_THROW(without.update_status(), Strata::OptionError);

  auto factors = this->factorise(good, this->options_of(kind, true));
  const auto x = this->applied(factors);
  const Vector<TypeParam> short_by_one("values", A.nnz() - 1);
  EXPECT_THROW(factors.enqueue_update_values(Device(), short_by_one),
               Strata::SizeMismatchError);
  EXPECT_THROW(factors.enqueue_update_values(Device(),
                                             Strata::gallery<Crs<TypeParam>>(
                                                 Device(), "triangulated:9x8")),
               Strata::PatternMismatchError);
  EXPECT_EQ(this->applied(factors), x);
  EXPECT_EQ(this->status_of(factors).fault, UpdateFault::none);
}

TYPED_TEST(EnqueueFactors, MemoryIsReported) {
  const auto kind = Factorization::incomplete_lu;
  const auto A = this->random_values(kind);
  const auto without =
      this->factorise(A, this->options_of(kind, false)).report();
  const auto with = this->factorise(A, this->options_of(kind, true)).report();
  EXPECT_GE(with.elimination_bytes,
            without.elimination_bytes +
                A.entries.size() * (4 + sizeof(TypeParam)) +
                A.row_map.size() * 4);
  EXPECT_GT(with.plan_bytes, without.plan_bytes);
  const bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible;
  // Values in the making, which else a GPU's pool lends.
  const auto values =
      static_cast<std::size_t>(with.lower_entries + with.upper_entries);
  EXPECT_EQ(with.factor_bytes - without.factor_bytes,
            on_host ? 0 : values * sizeof(TypeParam));
  // Columns of 64 bits are kept as 32.
  using Wide = KokkosSparse::CrsMatrix<TypeParam, std::int64_t, Device, void,
                                       std::int64_t>;
  const typename TestFixture::Factors wide(Device(),
                                           A.template to_device<Wide>(), kind,
                                           this->options_of(kind, true));
  EXPECT_EQ(wide.report().elimination_bytes, with.elimination_bytes);
  EXPECT_EQ(wide.report().factor_bytes, with.factor_bytes);
}

/// No row, one row, and one dense row.
TYPED_TEST(EnqueueFactors, SmallestMatrices) {
  using Host = HostMatrix<TypeParam>;
  for (const int n : {0, 1, 2, 40}) {
    Host A;
    A.rows = A.columns = n;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j)
        if (i == j || i == n - 1) {
          A.entries.push_back(j);
          A.values.push_back(TypeParam(i == j ? 4 : 1));
        }
      A.row_map.push_back(static_cast<std::int64_t>(A.entries.size()));
    }
    this->pattern = A;
    auto factors = this->factorise(
        A, this->options_of(Factorization::incomplete_lu, true));
    const auto x = this->applied(factors);
    factors.enqueue_update_values(Device(), this->held(A));
    EXPECT_EQ(this->applied(factors), x);
    if (n == 0) continue;
    auto bad = A;
    bad.at(n / 2, n / 2) = TypeParam(0);
    factors.enqueue_update_values(Device(), this->held(bad));
    this->expect_all_nan(this->applied(factors));
    EXPECT_EQ(this->status_of(factors).row, n / 2);
    factors.enqueue_update_values(Device(), this->held(A));
    EXPECT_EQ(this->applied(factors), x);
  }
}

}  // namespace
