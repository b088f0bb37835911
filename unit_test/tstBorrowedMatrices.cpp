// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_BandMatrix.hpp>
#include <Strata_Colouring.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_IncompletePattern.hpp>
#include <Strata_LevelPermutation.hpp>
#include <Strata_Preconditioner.hpp>
#include <Strata_SellMatrix.hpp>
#include <Strata_Triangle.hpp>
#include <Strata_TriangularSolver.hpp>
#include <type_traits>

#include "HermitianMatrix.hpp"
#include "InOrder.hpp"

// Matrices whose values or indices are const, or whose memory is someone
// else's, give every function what a matrix with memory of its own gives.

namespace {

using Strata::Uplo;
using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
using RandomAccess = Kokkos::MemoryTraits<Kokkos::RandomAccess>;

template <class Borrowed>
class BorrowedMatrices : public testing::Test {
 protected:
  using Own = Strata::OwningCrsMatrix<Borrowed>;
  using Scalar = typename Own::value_type;

  /// Hermitian and positive definite, so that all functions take it.
  void make(const std::string& spec) {
    own_ = hermitian<Scalar>(spec).template to_device<Own>();
    const Own& A = own_;
    borrowed_ = std::make_unique<Borrowed>("borrowed", A.numRows(), A.numCols(),
                                           A.nnz(), A.values, A.graph.row_map,
                                           A.graph.entries);
  }

  static void expect_same_matrix(const Own& found, const Own& wanted) {
    const HostMatrix<Scalar> f(found), w(wanted);
    EXPECT_EQ(f.rows, w.rows);
    EXPECT_EQ(f.row_map, w.row_map);
    EXPECT_EQ(f.entries, w.entries);
    EXPECT_EQ(f.values, w.values);
  }
  /// `make(A)` gives a function that takes one vector to another.
  template <class Make>
  void expect_same_map(const Make& make) const {
    const auto b = random_vector<Scalar>(own_.numRows());
    const Vector<Scalar> x("x", b.extent(0)), y("y", b.extent(0));
    make (*borrowed_)(b, x);
    make(own_)(b, y);
    Kokkos::fence();
    EXPECT_EQ(on_host(x), on_host(y));
  }

  Own own_;
  std::unique_ptr<Borrowed> borrowed_;
};

using Kinds = testing::Types<
    KokkosSparse::CrsMatrix<const double, int, Device, void, int>,
    KokkosSparse::CrsMatrix<double, int, Device, Unmanaged, int>,
    KokkosSparse::CrsMatrix<const double, int, Device, Unmanaged, std::int64_t>,
    KokkosSparse::CrsMatrix<const Kokkos::complex<double>, std::int64_t, Device,
                            RandomAccess, std::size_t>,
    KokkosSparse::CrsMatrix<float, int, Device, Unmanaged, std::size_t>>;
TYPED_TEST_SUITE(BorrowedMatrices, Kinds);

TYPED_TEST(BorrowedMatrices, HaveTriangles) {
  this->make("circuit:300");
  for (const auto uplo : {Uplo::lower, Uplo::upper})
    this->expect_same_matrix(
        Strata::take_triangle(Device(), *this->borrowed_, uplo),
        Strata::take_triangle(Device(), this->own_, uplo));
}

TYPED_TEST(BorrowedMatrices, HaveFill) {
  this->make("circuit:300");
  this->expect_same_matrix(
      Strata::incomplete_pattern(Device(), *this->borrowed_, 2),
      Strata::incomplete_pattern(Device(), this->own_, 2));
}

TYPED_TEST(BorrowedMatrices, HaveFactorsThatAreSolved) {
  this->make("grid3d:7");
  const auto factors = Strata::incomplete_lu(Device(), *this->borrowed_);
  const auto wanted = Strata::incomplete_lu(Device(), this->own_);
  this->expect_same_matrix(factors.L, wanted.L);
  this->expect_same_matrix(factors.U, wanted.U);
  using Borrowed = TypeParam;
  const auto& U = factors.U;
  const Borrowed of_factor("U", U.numRows(), U.numCols(), U.nnz(), U.values,
                           U.graph.row_map, U.graph.entries);
  Strata::TriangularSolver solver(Device(), of_factor, Uplo::upper,
                                  Strata::Diag::non_unit);
  solver.update_values(Device(), of_factor);
  const auto b = random_vector<typename TestFixture::Scalar>(U.numRows());
  const decltype(b) x("x", b.extent(0));
  solver.solve(Device(), b, x);
  Kokkos::fence();
  EXPECT_LT(relative_residual(HostMatrix<typename TestFixture::Scalar>(U),
                              on_host(b), on_host(x)),
            1e-5);
}

TYPED_TEST(BorrowedMatrices, TakeAnotherOrderAndColours) {
  this->make("triangulated:20x15");
  const auto order = Strata::level_permutation(Device(), this->own_);
  this->expect_same_matrix(
      Strata::permute_symmetric(Device(), *this->borrowed_, order),
      Strata::permute_symmetric(Device(), this->own_, order));
  EXPECT_EQ(Strata::level_permutation(Device(), *this->borrowed_).num_levels,
            order.num_levels);
  EXPECT_EQ(Strata::colour_rows(Device(), *this->borrowed_).colour_map,
            Strata::colour_rows(Device(), this->own_).colour_map);
}

TYPED_TEST(BorrowedMatrices, AreFactorisedInEveryOrder) {
  using Strata::Factorization;
  using Strata::FactorOrder;
  this->make("grid2d:17");
  for (const auto order : {FactorOrder::natural, FactorOrder::coloured})
    this->expect_same_map([&](const auto& A) {
      auto M = std::make_shared<Strata::IncompleteFactorization<
          typename TestFixture::Scalar, Device>>(
          Device(), A, Factorization::incomplete_cholesky,
          Strata::in_order(order));
      M->update_values(Device(), A);
      return [M](const auto& b, const auto& x) { M->apply(Device(), b, x); };
    });
  const Strata::JacobiPreconditioner jacobi(Device(), *this->borrowed_);
  EXPECT_EQ(jacobi.rows(), 289);
}

TYPED_TEST(BorrowedMatrices, AreMultipliedAndSpread) {
  this->make("circuit:300");
  this->expect_same_map([&](const auto& A) {
    auto form = std::make_shared<
        Strata::SellMatrix<typename TestFixture::Scalar, Device>>(Device(), A);
    form->update_values(Device(), A);
    return
        [form](const auto& b, const auto& x) { form->apply(Device(), b, x); };
  });
  const auto band = Strata::band_matrix(Device(), *this->borrowed_);
  const auto wanted = Strata::band_matrix(Device(), this->own_);
  EXPECT_EQ(band.kl, wanted.kl);
  EXPECT_EQ(band.ku, wanted.ku);
}

// A matrix of plain types stays of its type.
using Plain = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
static_assert(std::is_same<Strata::OwningCrsMatrix<Plain>, Plain>::value,
              "no other type");

}  // namespace
