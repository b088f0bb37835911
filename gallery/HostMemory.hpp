// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_HOST_MEMORY_HPP
#define STRATA_GALLERY_HOST_MEMORY_HPP

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace Strata {
namespace Detail {

/// Bytes of memory that this process can have on the host: those of the
/// machine, or fewer where its control group has a limit. Infinity where
/// neither is known.
inline double host_memory_bytes() {
  double bytes = std::numeric_limits<double>::infinity();
  const auto pages = static_cast<double>(::sysconf(_SC_PHYS_PAGES));
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (pages > 0 && page > 0) bytes = pages * page;
  for (const char* limit : {"/sys/fs/cgroup/memory.max",
                            "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    // "max" where there is none.
    double allowed = 0;
    if (std::ifstream(limit) >> allowed && allowed > 0)
      bytes = std::min(bytes, allowed);
  }
  return bytes;
}

}  // namespace Detail
}  // namespace Strata

#endif
