// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Strata_Gallery.hpp>
#include <Strata_MatrixMarket.hpp>
#include <algorithm>

#include "Arrays.hpp"
#include "Bindings.hpp"
#include "Runtime.hpp"

namespace StrataPython {

namespace {

template <class Scalar>
using HostMatrix = KokkosSparse::CrsMatrix<Scalar, int, Host, void, int>;

/// A NumPy array of its own with the elements of a view.
template <class Element, class View>
nb::object numpy_of(const View& view) {
  const std::size_t size = view.extent(0);
  auto* const copy = new Element[size];
  const nb::capsule owner(
      copy, [](void* data) noexcept { delete[] static_cast<Element*>(data); });
  const auto* const from = reinterpret_cast<const Element*>(view.data());
  std::copy(from, from + size, copy);
  return nb::cast(nb::ndarray<nb::numpy, Element>(copy, {size}, owner));
}

/// indptr, indices and data of what `make` returns. Work holds no lock of
/// Python's, which objects need.
template <class Scalar, class Make>
nb::tuple arrays_of(const Make& make) {
  HostMatrix<Scalar> A;
  {
    const Work work;
    A = make();
  }
  return nb::make_tuple(numpy_of<int>(A.graph.row_map),
                        numpy_of<int>(A.graph.entries),
                        numpy_of<InterfaceOf<Scalar>>(A.values));
}

}  // namespace

void bind_gallery(nb::module_& module) {
  for_each_scalar([&](auto scalar) {
    using Scalar = decltype(scalar);
    module.def(
        class_name<Scalar, Host>("gallery").c_str(),
        [](const std::string& name, std::uint64_t seed) {
          return arrays_of<Scalar>([&] {
            return Strata::gallery<HostMatrix<Scalar>>(Host(), name, seed);
          });
        },
        nb::arg("name"), nb::arg("seed"));
    module.def(
        class_name<Scalar, Host>("read_matrix_market").c_str(),
        [](const std::string& path) {
          return arrays_of<Scalar>([&] {
            return Strata::read_matrix_market<HostMatrix<Scalar>>(path);
          });
        },
        nb::arg("path"));
  });
  module.attr("gallery_help") = Strata::gallery_help();
}

}  // namespace StrataPython
