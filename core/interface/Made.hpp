// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_INTERFACE_MADE_HPP
#define STRATA_CORE_INTERFACE_MADE_HPP

#include <Strata_Error.hpp>
#include <string>
#include <utility>

namespace Strata {
namespace Detail {

/// HandleError unless an object was made, `made` being a pointer or a Made.
/// @param name  of the class; @param arguments  of the constructor that makes
/// it
template <class Mark>
void require_made(const Mark& made, const char* name, const char* arguments) {
  if (made) return;
  throw HandleError(name, "has not been made, or was moved from: it is empty",
                    std::string("assign one that is made, as in object = ") +
                        name + "(" + arguments + ")");
}

/// Whether an object was made; what was moved from no longer is. For classes
/// without a pointer that says so.
class Made {
 public:
  Made() = default;
  explicit Made(bool made) : made_(made) {}
  Made(const Made&) = default;
  Made& operator=(const Made&) = default;
  Made(Made&& other) noexcept : made_(std::exchange(other.made_, false)) {}
  Made& operator=(Made&& other) noexcept {
    made_ = std::exchange(other.made_, false);
    return *this;
  }
  ~Made() = default;
  explicit operator bool() const { return made_; }

 private:
  bool made_ = false;
};

/// Gives the library's own kernels access to private members of public classes.
struct Internals {
  /// The arguments that TriangularSolver's interface passes on: a matrix as
  /// CrsArrays, vectors as StridedBlock.
  template <class Solver, class... Arguments>
  static void analyse(Solver& solver, const Arguments&... arguments) {
    solver.analyse(arguments...);
  }
  template <class Solver, class... Arguments>
  static void update(Solver& solver, const Arguments&... arguments) {
    solver.update(arguments...);
  }
  template <class Solver, class... Arguments>
  static void enqueue_update(Solver& solver, const Arguments&... arguments) {
    solver.enqueue_update(arguments...);
  }
  template <class Solver, class... Arguments>
  static void solve(const Solver& solver, const Arguments&... arguments) {
    solver.solve_strided(arguments...);
  }
  /// A solve with vectors that check_vectors has seen.
  template <class Solver, class... Arguments>
  static void solve_checked(const Solver& solver,
                            const Arguments&... arguments) {
    solver.solve_checked(arguments...);
  }
  template <class Matrix>
  static const auto& storage(const Matrix& matrix) {
    return matrix.storage();
  }
  /// Of two colours and incomplete Cholesky; null elsewhere.
  template <class Preconditioner>
  static auto reduced(const Preconditioner& preconditioner) {
    return preconditioner.reduced();
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
