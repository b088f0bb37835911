// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nanobind/stl/vector.h>

#include <vector>

#include "Arrays.hpp"
#include "Bindings.hpp"
#include "Runtime.hpp"

namespace StrataPython {

namespace {

using Anywhere = nb::ndarray<nb::array_api, nb::device::cuda>;

template <class Element>
bool is_named(const std::string& dtype, const char* name,
              nb::dlpack::dtype& to) {
  if (dtype != name) return false;
  to = nb::dtype<Element>();
  return true;
}
/// DLPack's number for a type of NumPy. @throws TypeError
nb::dlpack::dtype dtype_named(const std::string& name) {
  nb::dlpack::dtype dtype;
  if (is_named<float>(name, "float32", dtype) ||
      is_named<double>(name, "float64", dtype) ||
      is_named<std::complex<float>>(name, "complex64", dtype) ||
      is_named<std::complex<double>>(name, "complex128", dtype) ||
      is_named<std::int32_t>(name, "int32", dtype) ||
      is_named<std::int64_t>(name, "int64", dtype))
    return dtype;
  throw nb::type_error(("no array of " + name + " can be taken").c_str());
}

/// An array of a GPU as one that speaks DLPack; strides count elements.
Anywhere array_at(std::uintptr_t pointer, const std::vector<std::size_t>& shape,
                  const std::vector<std::int64_t>& strides,
                  const std::string& dtype, int device, nb::handle owner) {
  return Anywhere(reinterpret_cast<void*>(pointer), shape.size(), shape.data(),
                  owner, strides.data(), dtype_named(dtype),
                  nb::device::cuda::value, device);
}

#if defined(KOKKOS_ENABLE_CUDA)
/// A new array on the GPU, contiguous in C order, with what is at `copy_of`, on
/// the host or the GPU, unless that is 0.
Anywhere new_array(const std::vector<std::size_t>& shape,
                   const std::string& name, std::uintptr_t copy_of,
                   std::uintptr_t stream, bool from_host) {
  const auto dtype = dtype_named(name);
  std::size_t bytes = dtype.bits / 8;
  for (const std::size_t extent : shape) bytes *= extent;
  class Memory : public Holder {
   public:
    Kokkos::View<char*, Kokkos::CudaSpace> view;
    void release() override { view = {}; }
  };
  auto* const memory = new Memory;
  const nb::capsule owner(
      memory, [](void* of) noexcept { delete static_cast<Memory*>(of); });
  {
    const Work work;
    const auto exec = SpaceFacts<Kokkos::Cuda>::on_stream(stream);
    memory->view = decltype(memory->view)(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                           "Strata::Python::array"),
        bytes);
    const auto* const from = reinterpret_cast<const char*>(copy_of);
    if (from != nullptr && from_host)
      Kokkos::deep_copy(
          exec, memory->view,
          Kokkos::View<const char*, Kokkos::HostSpace, Borrowed>(from, bytes));
    else if (from != nullptr)
      Kokkos::deep_copy(exec, memory->view,
                        BorrowedArray<const char, Kokkos::Cuda>(from, bytes));
    if (from_host) exec.fence();
  }
  return Anywhere(memory->view.data(), shape.size(), shape.data(), owner,
                  nullptr, dtype, nb::device::cuda::value,
                  Kokkos::Cuda().cuda_device());
}

int device_of(std::uintptr_t pointer) {
  cudaPointerAttributes facts;
  if (cudaPointerGetAttributes(&facts, reinterpret_cast<void*>(pointer)) !=
      cudaSuccess)
    (void)cudaGetLastError();
  else if (facts.type == cudaMemoryTypeDevice ||
           facts.type == cudaMemoryTypeManaged)
    return facts.device;
  return -1;
}

void wait_for(std::uintptr_t stream) {
  const Work work;
  SpaceFacts<Kokkos::Cuda>::on_stream(stream).fence();
}

/// Elements of a GPU, contiguous, as an array of a host. Waits for the stream.
void copy_to_host(const nb::ndarray<nb::c_contig, nb::device::cpu>& to,
                  const nb::ndarray<nb::ro, nb::c_contig, nb::device::cuda>& of,
                  std::uintptr_t stream) {
  const Work work;
  const auto exec = SpaceFacts<Kokkos::Cuda>::on_stream(stream);
  Kokkos::deep_copy(exec,
                    Kokkos::View<char*, Kokkos::HostSpace, Borrowed>(
                        static_cast<char*>(to.data()), to.nbytes()),
                    BorrowedArray<const char, Kokkos::Cuda>(
                        static_cast<const char*>(of.data()), of.nbytes()));
  exec.fence();
}
#endif

}  // namespace

void bind_cuda_arrays(nb::module_& module) {
  module.def("array_at", &array_at, nb::arg("pointer"), nb::arg("shape"),
             nb::arg("strides"), nb::arg("dtype"), nb::arg("device"),
             nb::arg("owner").none(),
             "An array of a GPU, given by its address, as DLPack has it.");
  module.def(
      "address_of",
      [](const Anywhere& array) {
        return reinterpret_cast<std::uintptr_t>(array.data());
      },
      nb::arg("array"), "Where the elements of an array of a GPU are.");
#if defined(KOKKOS_ENABLE_CUDA)
  module.def("new_array", &new_array, nb::arg("shape"), nb::arg("dtype"),
             nb::arg("copy_of") = 0, nb::arg("stream") = 0,
             nb::arg("from_host") = false,
             "A new array on the GPU, perhaps of what is at an address.");
  module.def("device_of", &device_of, nb::arg("pointer"),
             "The GPU whose memory an address is of; -1: of none.");
  module.def("wait_for", &wait_for, nb::arg("stream"),
             "Waits for what is enqueued on a stream.");
  module.def(
      "wait_for_all",
      [] {
        const Work work;
        change_stream(0);
      },
      "Waits for the GPU.");
  module.def("copy_to_host", &copy_to_host, nb::arg("to").noconvert(),
             nb::arg("of").noconvert(), nb::arg("stream"),
             "Copies an array of a GPU to one of a host, and waits.");
  module.def(
      "expect_no_capture",
      [](std::uintptr_t stream, const std::string& why,
         const std::string& remedy) {
        expect_no_capture(stream, why.c_str(), remedy.c_str());
      },
      nb::arg("stream"), nb::arg("why"), nb::arg("remedy"),
      "Raises HandleError where a stream is captured.");
#endif
}

}  // namespace StrataPython
