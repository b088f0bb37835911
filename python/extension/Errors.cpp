// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Errors.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <Strata_Error.hpp>
#include <typeindex>
#include <unordered_map>

namespace StrataPython {

namespace nb = nanobind;

namespace {

const char* name_of(const Strata::Error& error) {
#define STRATA_PYTHON_NAME(Class) \
  { typeid(Strata::Class), #Class }
  static const std::unordered_map<std::type_index, const char*> names = {
      STRATA_PYTHON_NAME(Error),
      STRATA_PYTHON_NAME(MatrixError),
      STRATA_PYTHON_NAME(NotSquareError),
      STRATA_PYTHON_NAME(RowMapError),
      STRATA_PYTHON_NAME(ColumnRangeError),
      STRATA_PYTHON_NAME(UnsortedRowError),
      STRATA_PYTHON_NAME(DuplicateEntryError),
      STRATA_PYTHON_NAME(WrongTriangleError),
      STRATA_PYTHON_NAME(MissingDiagonalError),
      STRATA_PYTHON_NAME(ZeroDiagonalError),
      STRATA_PYTHON_NAME(ScalingError),
      STRATA_PYTHON_NAME(FactorizationError),
      STRATA_PYTHON_NAME(PrecisionError),
      STRATA_PYTHON_NAME(DominanceError),
      STRATA_PYTHON_NAME(PermutationError),
      STRATA_PYTHON_NAME(NotFiniteError),
      STRATA_PYTHON_NAME(SingularError),
      STRATA_PYTHON_NAME(NotHermitianError),
      STRATA_PYTHON_NAME(IndefiniteError),
      STRATA_PYTHON_NAME(PatternMismatchError),
      STRATA_PYTHON_NAME(SizeMismatchError),
      STRATA_PYTHON_NAME(BandwidthError),
      STRATA_PYTHON_NAME(AliasError),
      STRATA_PYTHON_NAME(IndexOverflowError),
      STRATA_PYTHON_NAME(OptionError),
      STRATA_PYTHON_NAME(PlanMemoryError),
      STRATA_PYTHON_NAME(MemoryError),
      STRATA_PYTHON_NAME(HandleError),
      STRATA_PYTHON_NAME(PartitionError),
      STRATA_PYTHON_NAME(FileError),
  };
#undef STRATA_PYTHON_NAME
  const auto found = names.find(typeid(error));
  if (found != names.end()) return found->second;
  return dynamic_cast<const Strata::MatrixError*>(&error) ? "MatrixError"
                                                          : "Error";
}

/// What a class of errors knows beyond argument, problem and remedy.
nb::dict facts_of(const Strata::Error& error) {
  nb::dict facts;
  if (const auto* of = dynamic_cast<const Strata::MatrixError*>(&error)) {
    if (of->row() >= 0) facts["row"] = of->row();
    if (!of->value().empty()) facts["value"] = of->value();
  } else if (const auto* of =
                 dynamic_cast<const Strata::PlanMemoryError*>(&error)) {
    facts["needed"] = of->needed();
    facts["allowed"] = of->allowed();
  } else if (const auto* of =
                 dynamic_cast<const Strata::MemoryError*>(&error)) {
    facts["needed"] = of->needed();
    facts["free"] = of->free();
    facts["total"] = of->total();
  } else if (const auto* of = dynamic_cast<const Strata::FileError*>(&error)) {
    if (of->line() >= 0) facts["line"] = of->line();
  }
  return facts;
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown,
                                       void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Strata::Error& error) {
      const nb::object made =
          nb::module_::import_("strata_solvers._errors")
              .attr("make")(name_of(error), error.argument(), error.problem(),
                            error.remedy(), **facts_of(error));
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())),
                      made.ptr());
    }
  });
}

}  // namespace StrataPython
