// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SPTRSV_NAMES_HPP
#define STRATA_SPTRSV_NAMES_HPP

#include <KokkosSparse_sptrsv.hpp>

namespace Strata {
namespace PerfTest {

/// sptrsv_symbolic and sptrsv_solve have moved from KokkosSparse::Experimental
/// to KokkosSparse. Lookup in Promoted and Experimental always finds a name,
/// at least that of Absent, so that overload resolution can take the newer
/// functions where they are.
namespace SptrsvNames {
namespace Absent {
struct Argument;
void sptrsv_symbolic(Argument);
void sptrsv_solve(Argument);
}  // namespace Absent
namespace Promoted {
using namespace Absent;
using namespace KokkosSparse;
}  // namespace Promoted
namespace Experimental {
using namespace Absent;
using namespace KokkosSparse::Experimental;
}  // namespace Experimental

struct Second {};
struct First : Second {};

template <class... Arguments>
auto symbolic(First, Arguments... arguments)
    -> decltype(Promoted::sptrsv_symbolic(arguments...)) {
  Promoted::sptrsv_symbolic(arguments...);
}
template <class... Arguments>
void symbolic(Second, Arguments... arguments) {
  Experimental::sptrsv_symbolic(arguments...);
}
template <class... Arguments>
auto solve(First, Arguments... arguments)
    -> decltype(Promoted::sptrsv_solve(arguments...)) {
  Promoted::sptrsv_solve(arguments...);
}
template <class... Arguments>
void solve(Second, Arguments... arguments) {
  Experimental::sptrsv_solve(arguments...);
}
}  // namespace SptrsvNames

}  // namespace PerfTest
}  // namespace Strata

#endif
