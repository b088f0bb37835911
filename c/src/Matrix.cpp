// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <limits>

#include "Arrays.hpp"

using StrataC::guarded;
using StrataC::Matrix;
using StrataC::object_of;
using StrataC::Options;

namespace {

strata_status set_option(strata_options options, const char* name,
                         const Options::Value& value) {
  return guarded([&] {
    auto& of = object_of<Options>("options", options);
    StrataC::require_pointer("name", name);
    of.values[name] = value;
  });
}

}  // namespace

strata_status strata_options_create(strata_options* options) {
  return guarded([&] {
    StrataC::require_place("options", options);
    StrataC::give_handle(options, std::make_unique<Options>());
  });
}

strata_status strata_options_set_integer(strata_options options,
                                         const char* name, int64_t value) {
  return set_option(options, name, value);
}

strata_status strata_options_set_real(strata_options options, const char* name,
                                      double value) {
  return set_option(options, name, value);
}

strata_status strata_options_set_text(strata_options options, const char* name,
                                      const char* value) {
  return guarded([&] {
    auto& of = object_of<Options>("options", options);
    StrataC::require_pointer("name", name);
    StrataC::require_pointer("value", value);
    of.values[name] = std::string(value);
  });
}

strata_status strata_options_destroy(strata_options options) {
  return StrataC::destroy<Options>("options", options);
}

strata_status strata_matrix_create(strata_matrix* matrix, int64_t rows,
                                   int64_t entries, const void* row_map,
                                   const void* columns, const void* values,
                                   strata_index row_map_type,
                                   strata_index columns_type, int index_base,
                                   strata_scalar scalar, strata_memory memory) {
  return guarded([&] {
    StrataC::require_place("matrix", matrix);
    const auto check_size = [](const char* argument, int64_t size) {
      if (size < 0)
        throw Strata::SizeMismatchError(argument, "is " + std::to_string(size),
                                        "pass 0 or more");
    };
    check_size("rows", rows);
    check_size("entries", entries);
    const int64_t most_rows = std::numeric_limits<std::int32_t>::max() - 1;
    if (rows > most_rows)
      throw Strata::IndexOverflowError(
          "rows", "is " + std::to_string(rows),
          "pass at most " + std::to_string(most_rows));
    StrataC::require_pointer("row_map", row_map);
    if (entries > 0) StrataC::require_pointer("columns", columns);
    if (index_base != 0 && index_base != 1)
      throw Strata::OptionError(
          "index_base", "is " + std::to_string(index_base), "pass 0 or 1");
    if (scalar < STRATA_FLOAT || scalar > STRATA_COMPLEX_DOUBLE)
      throw Strata::OptionError(
          "scalar", "is " + std::to_string(scalar) + ", which has no name",
          "pass STRATA_FLOAT, STRATA_DOUBLE, STRATA_COMPLEX_FLOAT or "
          "STRATA_COMPLEX_DOUBLE");
    auto made = std::make_unique<Matrix>();
    made->rows = rows;
    made->entries = entries;
    made->row_map = row_map;
    made->columns = columns;
    made->values = values;
    const char* const indices = "STRATA_INT32 or STRATA_INT64";
    made->wide_row_map =
        StrataC::is_second("row_map_type", row_map_type, indices);
    made->wide_columns =
        StrataC::is_second("columns_type", columns_type, indices);
    made->index_base = index_base;
    made->scalar = scalar;
    made->in_device =
        StrataC::is_second("memory", memory, "STRATA_HOST or STRATA_DEVICE") &&
        StrataC::has_device;
    StrataC::give_handle(matrix, std::move(made));
  });
}

strata_status strata_matrix_set_values(strata_matrix matrix,
                                       const void* values) {
  return guarded([&] { object_of<Matrix>("matrix", matrix).values = values; });
}

strata_status strata_matrix_destroy(strata_matrix matrix) {
  return StrataC::destroy<Matrix>("matrix", matrix);
}
