// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IFPACK2STRATA_PRECONDITIONER_HPP
#define IFPACK2STRATA_PRECONDITIONER_HPP

// What Strata's solvers share as preconditioners of Ifpack2.

#include <Ifpack2Strata_LocalMatrix.hpp>
#include <Ifpack2_Details_CanChangeMatrix.hpp>
#include <Ifpack2_Preconditioner.hpp>
#include <Strata_Error.hpp>
#include <Strata_TriangularOptions.hpp>
#include <Teuchos_ParameterList.hpp>
#include <Teuchos_Time.hpp>
#include <Tpetra_MultiVector.hpp>
#include <stdexcept>
#include <string>

namespace Ifpack2Strata {

/// An Ifpack2::Preconditioner that solves on each rank with the square matrix
/// of the rank's rows (see LocalMatrix), by one of Strata's solvers.
///
/// compute() analyses the pattern once after initialize(), and otherwise takes
/// the values that the matrix has then. apply() is asynchronous on the default
/// instance of the execution space, as Tpetra's own work.
///
/// Exceptions of Strata pass through. One that some ranks throw alone leaves
/// the others waiting in their next message, as with Ifpack2.
template <class RowMatrix>
class Preconditioner
    : virtual public ::Ifpack2::Preconditioner<
          typename RowMatrix::scalar_type,
          typename RowMatrix::local_ordinal_type,
          typename RowMatrix::global_ordinal_type,
          typename RowMatrix::node_type>,
      virtual public ::Ifpack2::Details::CanChangeMatrix<
          Tpetra::RowMatrix<typename RowMatrix::scalar_type,
                            typename RowMatrix::local_ordinal_type,
                            typename RowMatrix::global_ordinal_type,
                            typename RowMatrix::node_type>> {
 public:
  using scalar_type = typename RowMatrix::scalar_type;
  using local_ordinal_type = typename RowMatrix::local_ordinal_type;
  using global_ordinal_type = typename RowMatrix::global_ordinal_type;
  using node_type = typename RowMatrix::node_type;
  using row_matrix_type = Tpetra::RowMatrix<scalar_type, local_ordinal_type,
                                            global_ordinal_type, node_type>;
  using map_type =
      Tpetra::Map<local_ordinal_type, global_ordinal_type, node_type>;
  using multivector_type = Tpetra::MultiVector<scalar_type, local_ordinal_type,
                                               global_ordinal_type, node_type>;
  static_assert(std::is_same<RowMatrix, row_matrix_type>::value,
                "Ifpack2Strata: the template parameter is a Tpetra::RowMatrix; "
                "the constructor takes a Tpetra::CrsMatrix as well");

  /// Of another matrix, or of none: initialize() and compute() come next. The
  /// same matrix again changes nothing.
  void setMatrix(const Teuchos::RCP<const row_matrix_type>& A) override {
    if (A.getRawPtr() == A_.getRawPtr()) return;
    forget_all();
    A_ = A;
  }

  /// @param list  "strata: algorithm" and "strata: accuracy" (as
  ///   Strata::algorithm_from_string and accuracy_from_string), "strata: merged
  ///   levels", "strata: max right-hand sides" and "strata: max plan bytes"
  ///   (numbers), "strata: transpose" (bool: apply() may be called with modes
  ///   other than NO_TRANS), which are as Strata's options of these names. For
  ///   IncompleteFactorization also Ifpack2's "fact: iluk level-of-fill",
  ///   "fact: absolute threshold" and "fact: relative threshold", and "strata:
  ///   small pivot threshold" (number), "strata: single precision" and "strata:
  ///   cholesky" (bool). They hold from the next initialize() on. Ifpack2's
  ///   other parameters are ignored.
  /// @throws std::invalid_argument for an unknown name that begins with
  ///   "strata:", and for a "fact: relax value" other than 0
  void setParameters(const Teuchos::ParameterList& list) override {
    for (auto entry = list.begin(); entry != list.end(); ++entry) {
      const std::string& name = list.name(entry);
      if (name == "strata: transpose")
        transpose_ = list.get<bool>(name);
      else if (!set_parameter(name, list) && name.rfind("strata:", 0) == 0)
        refuse(name, "it is unknown: setParameters lists what there is");
    }
  }

  /// Looks at the pattern of the matrix.
  /// @throws std::runtime_error without a matrix, or with one that is not fill
  ///   complete
  void initialize() override {
    const Clock clock(initialize_time_);
    require_matrix("initialize");
    const auto A = A_;
    forget_all();
    A_ = A;
    local_.set_pattern(*A_);
    look(local_.pattern());
    is_initialized_ = true;
    ++num_initialize_;
  }
  /// Takes the values that the matrix has, after an initialize() if there was
  /// none.
  void compute() override {
    if (!is_initialized_) initialize();
    const Clock clock(compute_time_);
    require_matrix("compute");
    is_computed_ = false;
    const Space exec;
    take_values(exec, local_.with_values(*A_, thresholds_), is_analysed_);
    // Values that are copied may change once this returns.
    exec.fence();
    is_analysed_ = is_computed_ = true;
    ++num_compute_;
  }

  /// Y = beta Y + alpha op(M)^-1 X, op by `mode`. X and Y may be the same
  /// object, or have the same data.
  /// @throws std::runtime_error before compute(); std::invalid_argument for
  ///   vectors of another size, and for a mode other than NO_TRANS without the
  ///   parameter "strata: transpose"
  void apply(const multivector_type& X, multivector_type& Y,
             Teuchos::ETransp mode = Teuchos::NO_TRANS,
             scalar_type alpha = Teuchos::ScalarTraits<scalar_type>::one(),
             scalar_type beta =
                 Teuchos::ScalarTraits<scalar_type>::zero()) const override {
    using STS = Teuchos::ScalarTraits<scalar_type>;
    const Clock clock(apply_time_);
    require_vectors(X, Y, mode);
    ++num_apply_;
    if (alpha == STS::zero()) {
      if (beta == STS::zero())
        Y.putScalar(STS::zero());
      else
        Y.scale(beta);
      return;
    }
    if (!X.isConstantStride()) {
      apply(multivector_type(X, Teuchos::Copy), Y, mode, alpha, beta);
      --num_apply_;
      return;
    }
    if (beta == STS::zero() && Y.isConstantStride()) {
      solve_with(X, Y, mode);
      if (alpha != STS::one()) Y.scale(alpha);
      return;
    }
    multivector_type solution(Y.getMap(), Y.getNumVectors(), false);
    solve_with(X, solution, mode);
    // Also where Y holds nothing of meaning yet, such as NaN.
    if (beta == STS::zero()) Y.putScalar(STS::zero());
    Y.update(alpha, solution, beta);
  }
  bool hasTransposeApply() const override { return transpose_; }

  Teuchos::RCP<const map_type> getDomainMap() const override {
    require_matrix("getDomainMap", false);
    return A_->getDomainMap();
  }
  Teuchos::RCP<const map_type> getRangeMap() const override {
    require_matrix("getRangeMap", false);
    return A_->getRangeMap();
  }
  Teuchos::RCP<const row_matrix_type> getMatrix() const override { return A_; }
  bool isInitialized() const override { return is_initialized_; }
  bool isComputed() const override { return is_computed_; }
  int getNumInitialize() const override { return num_initialize_; }
  int getNumCompute() const override { return num_compute_; }
  int getNumApply() const override { return num_apply_; }
  double getInitializeTime() const override { return initialize_time_; }
  double getComputeTime() const override { return compute_time_; }
  double getApplyTime() const override { return apply_time_; }
  std::string description() const override {
    return "\"Ifpack2Strata::" + name() +
           "\": {Initialized: " + (is_initialized_ ? "true" : "false") +
           ", Computed: " + (is_computed_ ? "true" : "false") + "}";
  }

 protected:
  using Matrix = typename LocalMatrix<RowMatrix>::Matrix;
  using Scalar = typename LocalMatrix<RowMatrix>::Scalar;
  using Space = typename LocalMatrix<RowMatrix>::Space;
  using Block = typename multivector_type::dual_view_type::t_dev;
  using ConstBlock =
      typename multivector_type::dual_view_type::t_dev::const_type;

  bool transpose() const { return transpose_; }
  DiagonalThresholds& thresholds() { return thresholds_; }

  [[noreturn]] void refuse(const std::string& parameter,
                           const std::string& why) const {
    throw std::invalid_argument("Ifpack2Strata::" + name() + ": parameter \"" +
                                parameter + "\": " + why);
  }
  static double number(const std::string& parameter,
                       const Teuchos::ParameterList& list) {
    if (list.isType<int>(parameter)) return list.get<int>(parameter);
    if (list.isType<float>(parameter))
      return static_cast<double>(list.get<float>(parameter));
    return list.get<double>(parameter);
  }
  static bool set_plan_option(Strata::TriangularPlanOptions& options,
                              const std::string& name,
                              const Teuchos::ParameterList& list) {
    if (name == "strata: algorithm")
      options.algorithm =
          Strata::algorithm_from_string(list.get<std::string>(name));
    else if (name == "strata: accuracy")
      options.accuracy =
          Strata::accuracy_from_string(list.get<std::string>(name));
    else if (name == "strata: merged levels")
      options.merged_levels = static_cast<int>(number(name, list));
    else if (name == "strata: max right-hand sides")
      options.max_right_hand_sides = static_cast<int>(number(name, list));
    else if (name == "strata: max plan bytes")
      options.max_plan_bytes = static_cast<std::size_t>(number(name, list));
    else
      return false;
    return true;
  }

 private:
  // What a solver fills in.
  virtual std::string name() const = 0;
  /// Whether this parameter was one of its own.
  virtual bool set_parameter(const std::string& name,
                             const Teuchos::ParameterList& list) = 0;
  virtual void forget() = 0;
  virtual void look(const Matrix&) {}
  /// @param is_known  the pattern is that of the call before, and so are the
  ///   options
  virtual void take_values(const Space& exec, const Matrix& A,
                           bool is_known) = 0;
  virtual void solve(const Space& exec, const ConstBlock& b, const Block& x,
                     Strata::Op op) const = 0;

  /// Adds the seconds of its life.
  class Clock {
   public:
    explicit Clock(double& sum)
        : sum_(sum), start_(Teuchos::Time::wallTime()) {}
    ~Clock() { sum_ += Teuchos::Time::wallTime() - start_; }
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;

   private:
    double& sum_;
    double start_;
  };

  void forget_all() {
    A_ = Teuchos::null;
    is_initialized_ = is_analysed_ = is_computed_ = false;
    local_ = LocalMatrix<RowMatrix>();
    forget();
  }
  void require_matrix(const char* where, bool filled = true) const {
    const std::string who = "Ifpack2Strata::" + name() + "::" + where + ": ";
    if (A_.is_null())
      throw std::runtime_error(who +
                               "there is no matrix: call setMatrix() before");
    if (filled && !A_->isFillComplete())
      throw std::runtime_error(
          who + "the matrix is not fill complete: call its fillComplete()");
  }
  void require_vectors(const multivector_type& X, const multivector_type& Y,
                       Teuchos::ETransp mode) const {
    const std::string who = "Ifpack2Strata::" + name() + "::apply: ";
    if (!is_computed_) throw std::runtime_error(who + "call compute() before");
    if (mode != Teuchos::NO_TRANS && !transpose_)
      throw std::invalid_argument(
          who +
          "this mode needs the parameter \"strata: transpose\", set to "
          "true before compute()");
    const auto rows = static_cast<std::size_t>(local_.pattern().numRows());
    if (X.getNumVectors() != Y.getNumVectors() || X.getLocalLength() != rows ||
        Y.getLocalLength() != rows)
      throw std::invalid_argument(
          who + "X has " + std::to_string(X.getLocalLength()) + " x " +
          std::to_string(X.getNumVectors()) + " elements on this rank, Y " +
          std::to_string(Y.getLocalLength()) + " x " +
          std::to_string(Y.getNumVectors()) + ", and the matrix " +
          std::to_string(rows) + " rows");
  }
  void solve_with(const multivector_type& X, multivector_type& Y,
                  Teuchos::ETransp mode) const {
    const auto op = mode == Teuchos::NO_TRANS ? Strata::Op::none
                    : mode == Teuchos::TRANS  ? Strata::Op::transpose
                                              : Strata::Op::conjugate_transpose;
    // What is read goes to the device first: Y may have the same data.
    const ConstBlock b = X.getLocalViewDevice(Tpetra::Access::ReadOnly);
    const Block x = Y.getLocalViewDevice(Tpetra::Access::ReadWrite);
    solve(Space(), b, x, op);
  }

  Teuchos::RCP<const row_matrix_type> A_;
  LocalMatrix<RowMatrix> local_;
  DiagonalThresholds thresholds_;
  bool transpose_ = false;
  bool is_initialized_ = false, is_analysed_ = false, is_computed_ = false;
  int num_initialize_ = 0, num_compute_ = 0;
  mutable int num_apply_ = 0;
  double initialize_time_ = 0, compute_time_ = 0;
  mutable double apply_time_ = 0;
};

}  // namespace Ifpack2Strata

#endif
