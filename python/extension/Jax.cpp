// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Bindings.hpp"
#if defined(STRATA_PYTHON_HAS_JAX)
#include <xla/ffi/api/ffi.h>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "Triangular.hpp"
#endif

namespace StrataPython {

#if defined(STRATA_PYTHON_HAS_JAX)

namespace {

namespace ffi = xla::ffi;

/// Solvers that compiled programs name by number. Each shares its plan with the
/// object of Python that it comes from, until Python code takes it out. (The
/// plans are Holders themselves.)
template <class Scalar, class Space>
class JaxPlans {
 public:
  using Solver = Strata::TriangularSolver<Scalar, Space>;

  static JaxPlans& instance() {
    // Never destroyed: see Runtime.cpp.
    static JaxPlans& plans = *new JaxPlans;
    return plans;
  }

  std::int64_t put(const Triangular<Scalar, Space>& of) {
    const std::lock_guard<std::mutex> lock(mutex_);
    plans_.emplace(++last_, std::make_shared<Plan>(of.object));
    return last_;
  }
  void take_out(std::int64_t number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    plans_.erase(number);
  }
  /// x = A^-1 b with new values of A, on a stream. @throws Strata::Error
  template <class B, class X>
  void solve(std::int64_t number,
             const BorrowedArray<const Scalar, Space>& values, const B& b,
             const X& x, std::uintptr_t stream) {
    const ForeignWork work;
    std::shared_ptr<Plan> plan;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = plans_.find(number);
      if (found != plans_.end()) plan = found->second;
    }
    if (!plan)
      throw Strata::HandleError(
          "solve", "no longer exists, and a compiled program calls it",
          "keep the TriangularSolve for as long as what was compiled with it");
    const Space exec = plan->on(stream);
    plan->object.update_values(exec, values);
    plan->object.solve(exec, b, x);
  }

 private:
  struct Plan : Held<Solver> {
    explicit Plan(const Solver& of) { this->object = of; }
  };
  std::mutex mutex_;
  std::unordered_map<std::int64_t, std::shared_ptr<Plan>> plans_;
  std::int64_t last_ = 0;
};

template <class Scalar>
constexpr ffi::DataType data_type = ffi::DataType::F32;
template <>
constexpr ffi::DataType data_type<double> = ffi::DataType::F64;
template <>
constexpr ffi::DataType data_type<Kokkos::complex<float>> = ffi::DataType::C64;
template <>
constexpr ffi::DataType data_type<Kokkos::complex<double>> =
    ffi::DataType::C128;

/// XLA's arrays are contiguous in C order.
template <class Element, class Space, class Buffer>
auto block_of(Buffer& buffer) {
  const auto shape = buffer.dimensions();
  const std::int64_t columns = shape.size() == 2 ? shape[1] : 1;
  return view_at<Element, Space>(
      {reinterpret_cast<std::uintptr_t>(buffer.untyped_data()), shape[0],
       columns, columns, 1});
}

template <class Scalar, class Space>
ffi::Error solve(std::uintptr_t stream, std::int64_t number,
                 ffi::AnyBuffer values, ffi::AnyBuffer b,
                 ffi::Result<ffi::AnyBuffer> x) {
  for (const auto& array : {values, b, *x})
    if (array.element_type() != data_type<Scalar>)
      return ffi::Error::InvalidArgument("strata: arrays of another type");
  try {
    JaxPlans<Scalar, Space>::instance().solve(
        number,
        BorrowedArray<const Scalar, Space>(
            static_cast<const Scalar*>(values.untyped_data()),
            values.element_count()),
        block_of<const Scalar, Space>(b), block_of<Scalar, Space>(*x), stream);
  } catch (const std::exception& error) {
    return ffi::Error::InvalidArgument(error.what());
  }
  return ffi::Error::Success();
}

template <class Scalar>
ffi::Error solve_on_host(std::int64_t number, ffi::AnyBuffer values,
                         ffi::AnyBuffer b, ffi::Result<ffi::AnyBuffer> x) {
  return solve<Scalar, Host>(0, number, values, b, x);
}
template <class Scalar>
XLA_FFI_Error* handle_on_host(XLA_FFI_CallFrame* frame) {
  static auto* const handler = ffi::Ffi::Bind()
                                   .template Attr<std::int64_t>("plan")
                                   .template Arg<ffi::AnyBuffer>()
                                   .template Arg<ffi::AnyBuffer>()
                                   .template Ret<ffi::AnyBuffer>()
                                   .To(&solve_on_host<Scalar>)
                                   .release();
  return handler->Call(frame);
}
#if defined(KOKKOS_ENABLE_CUDA)
template <class Scalar>
ffi::Error solve_on_gpu(cudaStream_t stream, std::int64_t number,
                        ffi::AnyBuffer values, ffi::AnyBuffer b,
                        ffi::Result<ffi::AnyBuffer> x) {
  return solve<Scalar, Kokkos::Cuda>(reinterpret_cast<std::uintptr_t>(stream),
                                     number, values, b, x);
}
template <class Scalar>
XLA_FFI_Error* handle_on_gpu(XLA_FFI_CallFrame* frame) {
  static auto* const handler =
      ffi::Ffi::Bind()
          .template Ctx<ffi::PlatformStream<cudaStream_t>>()
          .template Attr<std::int64_t>("plan")
          .template Arg<ffi::AnyBuffer>()
          .template Arg<ffi::AnyBuffer>()
          .template Ret<ffi::AnyBuffer>()
          .To(&solve_on_gpu<Scalar>)
          .release();
  return handler->Call(frame);
}
#endif

template <class Scalar, class Space>
void* handler() {
#if defined(KOKKOS_ENABLE_CUDA)
  if (std::is_same<Space, Kokkos::Cuda>::value)
    return reinterpret_cast<void*>(&handle_on_gpu<Scalar>);
#endif
  return reinterpret_cast<void*>(&handle_on_host<Scalar>);
}

template <class Scalar, class Space>
struct BindJax {
  static void define(nb::module_& module) {
    using Plans = JaxPlans<Scalar, Space>;
    module.def(
        class_name<Scalar, Space>("jax_put").c_str(),
        [](const Triangular<Scalar, Space>& solver) {
          return Plans::instance().put(solver);
        },
        nb::arg("solver"), "The number by which a handler knows a solver.");
    module.def(
        class_name<Scalar, Space>("jax_take_out").c_str(),
        [](std::int64_t number) { Plans::instance().take_out(number); },
        nb::arg("number"));
    module.def(
        class_name<Scalar, Space>("jax_handler").c_str(),
        [] { return nb::capsule(handler<Scalar, Space>()); },
        "What XLA calls, for jax.ffi.register_ffi_target.");
  }
};

}  // namespace

void bind_jax(nb::module_& module) {
  module.attr("has_jax") = true;
  for_each_type<BindJax>(module);
}

#else

void bind_jax(nb::module_& module) { module.attr("has_jax") = false; }

#endif

}  // namespace StrataPython
