// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Factorization.hpp"

using StrataC::Factorization;
using StrataC::guarded;
using StrataC::object_of;

namespace {

Factorization& factorization(strata_factorization factors) {
  return object_of<Factorization>("factors", factors);
}

}  // namespace

strata_status strata_factorization_create(strata_factorization* factors,
                                          strata_matrix matrix,
                                          strata_factors kind,
                                          strata_options options,
                                          void* stream) {
  return guarded([&] {
    StrataC::require_place("factors", factors);
    const auto& of = object_of<StrataC::Matrix>("matrix", matrix);
    const auto which = StrataC::enumerator<Strata::Factorization>("kind", kind);
    StrataC::OptionReader reader(options);
    auto place = StrataC::Place::automatic;
    Strata::IncompleteFactorizationOptions given;
    StrataC::read_plan_options(reader, given.triangular);
    reader.read("fill_level", given.fill_level);
    reader.read("order", given.order);
    reader.read("scaling", given.scaling);
    reader.read("transpose", given.transpose);
    reader.read("shift", given.shift);
    reader.read("shift_tries", given.shift_tries);
    reader.read("precision", given.precision);
    reader.read("enqueue_updates", given.enqueue_updates);
    reader.read("small_pivot_threshold", given.small_pivot_threshold);
    reader.read("symmetry_tolerance", given.symmetry_tolerance);
    reader.read("space", place);
    reader.finish("a factorisation");
    const bool on_device = is_on_device(of, place);
    StrataC::initialize();
    StrataC::with_types(of.scalar, on_device, [&](auto zero, auto space) {
      using Made = StrataC::FactorizationOf<decltype(zero), decltype(space)>;
      give_handle(factors, std::make_unique<Made>(of, which, given, stream));
    });
  });
}

strata_status strata_factorization_solve(strata_factorization factors,
                                         strata_op op, const void* b,
                                         int64_t ldb, void* x, int64_t ldx,
                                         int64_t nrhs, strata_layout layout,
                                         void* stream) {
  return guarded([&] {
    factorization(factors).solve(StrataC::enumerator<Strata::Op>("op", op),
                                 {b, ldb, x, ldx, nrhs, layout}, stream);
  });
}

strata_status strata_factorization_update_values(strata_factorization factors,
                                                 strata_matrix matrix,
                                                 void* stream) {
  return guarded([&] {
    auto& of = factorization(factors);
    of.update_values(object_of<StrataC::Matrix>("matrix", matrix), stream);
  });
}

strata_status strata_factorization_enqueue_values(strata_factorization factors,
                                                  const void* values,
                                                  void* stream) {
  return guarded(
      [&] { factorization(factors).enqueue_values(values, stream); });
}

strata_status strata_factorization_fault(strata_factorization factors,
                                         strata_fault* fault, int64_t* row,
                                         void* stream) {
  return guarded([&] {
    StrataC::give_fault(factorization(factors).fault(stream), fault, row);
  });
}

strata_status strata_factorization_entries(strata_factorization factors,
                                           strata_uplo factor,
                                           int64_t* entries) {
  return guarded([&] {
    StrataC::require_pointer("entries", entries);
    const auto& facts = factorization(factors).facts();
    *entries = StrataC::enumerator<Strata::Uplo>("factor", factor) ==
                       Strata::Uplo::lower
                   ? facts.lower_entries
                   : facts.upper_entries;
  });
}

strata_status strata_factorization_copy(strata_factorization factors,
                                        strata_uplo factor, void* row_map,
                                        void* columns, void* values,
                                        strata_index index, int index_base,
                                        strata_memory memory, void* stream) {
  return guarded([&] {
    const auto& of = factorization(factors);
    const auto which = StrataC::enumerator<Strata::Uplo>("factor", factor);
    StrataC::require_pointer("row_map", row_map);
    if (index_base != 0 && index_base != 1)
      throw Strata::OptionError(
          "index_base", "is " + std::to_string(index_base), "pass 0 or 1");
    const bool wide =
        StrataC::is_second("index", index, "STRATA_INT32 or STRATA_INT64");
    const bool in_device =
        StrataC::is_second("memory", memory, "STRATA_HOST or STRATA_DEVICE") &&
        StrataC::has_device;
    of.copy(which, {row_map, columns, values, wide, index_base, in_device},
            stream);
  });
}

strata_status strata_factorization_share(strata_factorization factors,
                                         strata_factorization* shared,
                                         void* stream) {
  return guarded([&] {
    StrataC::require_place("shared", shared);
    StrataC::give_handle(shared, factorization(factors).share(stream));
  });
}

strata_status strata_factorization_report(strata_factorization factors,
                                          const char** text) {
  return guarded([&] {
    StrataC::require_pointer("text", text);
    auto& of = factorization(factors);
    of.report_text = to_string(of.facts());
    *text = of.report_text.c_str();
  });
}

strata_status strata_factorization_destroy(strata_factorization factors) {
  return StrataC::destroy<Factorization>("factors", factors);
}
