// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosKernels_config.h>
int version = KOKKOSKERNELS_VERSION;
