// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ERROR_HPP
#define STRATA_ERROR_HPP

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace Strata {

/// Root of every exception the library throws.
///
/// what() reads "Strata: <argument>: <problem>; <remedy>". Nothing that the
/// caller owns has been written when one of these is thrown.
class Error : public std::runtime_error {
 public:
  Error(std::string argument, std::string problem, std::string remedy)
      : std::runtime_error("Strata: " + argument + ": " + problem + "; " +
                           remedy),
        argument_(std::move(argument)),
        problem_(std::move(problem)),
        remedy_(std::move(remedy)) {}

  /// Name of the argument (or file, or option) at fault.
  const std::string& argument() const noexcept { return argument_; }
  /// What is wrong with it.
  const std::string& problem() const noexcept { return problem_; }
  /// What the caller can do about it.
  const std::string& remedy() const noexcept { return remedy_; }

 private:
  std::string argument_, problem_, remedy_;
};

/// A fault in one row of a matrix. `row` and `value` are zero-based; `value`
/// is the offending number as text (a column, an offset or a matrix value).
class MatrixError : public Error {
 public:
  MatrixError(std::string argument, std::string problem, std::string remedy,
              std::int64_t row = -1, std::string value = {})
      : Error(std::move(argument), std::move(problem), std::move(remedy)),
        row_(row),
        value_(std::move(value)) {}

  /// Zero-based row at fault, -1 where no single row is.
  std::int64_t row() const noexcept { return row_; }
  /// The offending number as text, empty where there is none.
  const std::string& value() const noexcept { return value_; }

  /// For the library: tells the same fault of what a caller knows.
  void restate(std::string argument, std::string problem, std::int64_t row) {
    *this = MatrixError(std::move(argument), std::move(problem), remedy(), row,
                        value_);
  }

 private:
  std::int64_t row_;
  std::string value_;
};

/// The matrix has a different number of rows and columns.
struct NotSquareError : MatrixError {
  using MatrixError::MatrixError;
};
/// The row map does not start at 0, decreases, or ends past the entries.
struct RowMapError : MatrixError {
  using MatrixError::MatrixError;
};
/// A column index is negative or not below the number of columns.
struct ColumnRangeError : MatrixError {
  using MatrixError::MatrixError;
};
/// A row's columns do not increase, and factorisations and
/// incomplete_pattern() do not sort them.
struct UnsortedRowError : MatrixError {
  using MatrixError::MatrixError;
};
/// A row names one column twice.
struct DuplicateEntryError : MatrixError {
  using MatrixError::MatrixError;
};
/// An entry lies outside the stated triangle.
struct WrongTriangleError : MatrixError {
  using MatrixError::MatrixError;
};
/// A row of a non-unit triangle stores no diagonal entry.
struct MissingDiagonalError : MatrixError {
  using MatrixError::MatrixError;
};
/// A diagonal entry of a non-unit triangle is zero.
struct ZeroDiagonalError : MatrixError {
  using MatrixError::MatrixError;
};
/// With new values, the algorithm chosen for the old ones would be less
/// accurate than it promises: it merges level sets.
struct ScalingError : MatrixError {
  using MatrixError::MatrixError;
};
/// A factorisation met a zero pivot or made a value that is not finite.
struct FactorizationError : MatrixError {
  using MatrixError::MatrixError;
};
/// A value is beyond the range of the precision that is to hold it.
struct PrecisionError : MatrixError {
  using MatrixError::MatrixError;
};
/// Neither the rows nor the columns of a matrix are diagonally dominant, and
/// the factorisation asked for does not exchange rows.
struct DominanceError : MatrixError {
  using MatrixError::MatrixError;
};
/// An order of rows names one that does not exist, or one twice.
struct PermutationError : MatrixError {
  using MatrixError::MatrixError;
};
/// A value is infinite or not a number.
struct NotFiniteError : MatrixError {
  using MatrixError::MatrixError;
};
/// A column of a square matrix has no pivot: no unique solution, no inverse.
/// row() is that column. Or a matching has no entry left for row().
struct SingularError : MatrixError {
  using MatrixError::MatrixError;
};
/// A matrix that has to equal its conjugate transpose does not.
struct NotHermitianError : MatrixError {
  using MatrixError::MatrixError;
};
/// A diagonal entry or pivot that has to be positive is not.
struct IndefiniteError : MatrixError {
  using MatrixError::MatrixError;
};
/// The pattern given to update_values differs from the analysed one.
struct PatternMismatchError : MatrixError {
  using MatrixError::MatrixError;
};

/// A view's extent does not match the system.
struct SizeMismatchError : Error {
  using Error::Error;
};
/// A number of diagonals below zero.
struct BandwidthError : Error {
  using Error::Error;
};
/// Two arguments share memory in a way that has no meaning.
struct AliasError : Error {
  using Error::Error;
};
/// A number does not fit the type that has to hold it.
struct IndexOverflowError : Error {
  using Error::Error;
};
/// An option has a value that can't be honoured on this device or matrix.
struct OptionError : Error {
  using Error::Error;
};
/// A plan takes more memory than the options allow.
class PlanMemoryError : public Error {
 public:
  PlanMemoryError(std::string argument, std::string problem, std::string remedy,
                  std::size_t needed, std::size_t allowed)
      : Error(std::move(argument), std::move(problem), std::move(remedy)),
        needed_(needed),
        allowed_(allowed) {}
  /// Bytes that the algorithm asked for takes, or at least takes; for the
  /// automatic choice, bytes that are enough. And those that are allowed.
  std::size_t needed() const noexcept { return needed_; }
  std::size_t allowed() const noexcept { return allowed_; }

 private:
  std::size_t needed_, allowed_;
};
/// There is not as much memory as a call needs. What the call was made on is as
/// it was before: see there for the exceptions.
class MemoryError : public Error {
 public:
  MemoryError(std::string argument, std::string problem, std::string remedy,
              std::size_t needed, std::size_t free, std::size_t total)
      : Error(std::move(argument), std::move(problem), std::move(remedy)),
        needed_(needed),
        free_(free),
        total_(total) {}
  /// Bytes of the allocation that failed: to four digits where Kokkos itself
  /// allocates, 0 where the size is not known, as of a host's containers.
  std::size_t needed() const noexcept { return needed_; }
  /// Bytes of the memory space that were free, and that it has in all; 0 where
  /// the backend does not say.
  std::size_t free() const noexcept { return free_; }
  std::size_t total() const noexcept { return total_; }

 private:
  std::size_t needed_, free_, total_;
};
/// A handle is used before the call that makes it ready.
struct HandleError : Error {
  using Error::Error;
};
/// No feasible partition into sub-graphs exists under the given limits.
struct PartitionError : Error {
  using Error::Error;
};

/// A file that can't be read or is not what it says.
class FileError : public Error {
 public:
  FileError(std::string path, std::string problem, std::string remedy,
            std::int64_t line = -1)
      : Error(path,
              line < 0 ? problem
                       : "line " + std::to_string(line) + ": " + problem,
              std::move(remedy)),
        line_(line) {}
  /// One-based line at fault, -1 where no single line is.
  std::int64_t line() const noexcept { return line_; }

 private:
  std::int64_t line_;
};

}  // namespace Strata

#endif
