// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_ARRAYS_HPP
#define PETSCSTRATA_ARRAYS_HPP

// PETSc's arrays as Kokkos' views in the memory of an execution space.

#include <petscvec.h>

#include <KokkosSparse_CrsMatrix.hpp>
#include <Kokkos_Complex.hpp>
#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>

namespace PetscStrata {

/// Strata's name for PETSc's scalar.
#if defined(PETSC_USE_COMPLEX)
using Scalar = Kokkos::complex<PetscReal>;
#else
using Scalar = PetscScalar;
#endif
static_assert(std::is_same<PetscReal, double>::value ||
                  std::is_same<PetscReal, float>::value,
              "libpetscstrata wants a PETSc with --with-precision=double or "
              "single");
static_assert(sizeof(Scalar) == sizeof(PetscScalar), "");

template <class T>
using HostArray = Kokkos::View<T*, Kokkos::HostSpace,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class Exec>
constexpr bool runs_on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                               typename Exec::memory_space>::accessible;

/// Whether Exec reaches PETSc's memory of that type.
template <class Exec>
bool reaches(PetscMemType type) {
  return PetscMemTypeDevice(type) != runs_on_host<Exec>;
}

/// An array for Exec: PETSc's own where Exec reaches it, otherwise memory that
/// is filled from it with read(), and written back with write().
template <class T, class Exec>
class Array {
 public:
  using View = Kokkos::View<T*, typename Exec::memory_space>;

  Array() = default;
  Array(T* data, std::size_t size, PetscMemType type) : petsc_(data) {
    if (reaches<Exec>(type))
      view_ = View(data, size);
    else
      view_ = View(Kokkos::view_alloc(Kokkos::WithoutInitializing,
                                      "Strata::petsc::copy"),
                   size);
  }
  const View& view() const { return view_; }
  bool is_copy() const { return view_.data() != petsc_; }
  void read(const Exec& exec) const {
    if (!is_copy()) return;
    Kokkos::deep_copy(exec, view_, HostArray<T>(petsc_, view_.extent(0)));
    exec.fence();
  }
  void write(const Exec& exec) const {
    if (!is_copy()) return;
    Kokkos::deep_copy(exec, HostArray<T>(petsc_, view_.extent(0)), view_);
    exec.fence();
  }

 private:
  T* petsc_ = nullptr;
  View view_;
};

template <class Exec>
using Matrix =
    KokkosSparse::CrsMatrix<Scalar, PetscInt,
                            Kokkos::Device<Exec, typename Exec::memory_space>,
                            void, PetscInt>;

/// Columns of a dense matrix with a leading dimension.
template <class Exec, class T>
using Columns =
    Kokkos::View<T**, Kokkos::LayoutStride, typename Exec::memory_space,
                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class Exec, class T>
Columns<Exec, T> columns(T* data, PetscInt rows, PetscInt count,
                         PetscInt leading) {
  return Columns<Exec, T>(
      data, Kokkos::LayoutStride(static_cast<std::size_t>(rows), 1,
                                 static_cast<std::size_t>(count),
                                 static_cast<std::size_t>(leading)));
}

}  // namespace PetscStrata

#endif
