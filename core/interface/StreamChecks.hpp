// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_INTERFACE_STREAM_CHECKS_HPP
#define STRATA_CORE_INTERFACE_STREAM_CHECKS_HPP

#include <Strata_Error.hpp>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

// What functions for several execution space instances at once ask of their
// vectors, one element of which belongs to each instance.

/// @throws SizeMismatchError
inline void require_as_many_as_spaces(const char* name, std::size_t given,
                                      std::size_t count) {
  if (given != count)
    throw SizeMismatchError(name,
                            "has " + std::to_string(given) +
                                " elements, execspace_v " +
                                std::to_string(count),
                            "give one for each execution space instance");
}

/// @throws AliasError
template <class Handle>
void require_handles_differ(const std::vector<Handle*>& handle_v) {
  for (std::size_t i = 0; i < handle_v.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (handle_v[i] == handle_v[j])
        throw AliasError("handle_v",
                         "has one handle at " + std::to_string(j) + " and " +
                             std::to_string(i),
                         "give each execution space instance a handle of its "
                         "own");
}

}  // namespace Detail
}  // namespace Strata

#endif
