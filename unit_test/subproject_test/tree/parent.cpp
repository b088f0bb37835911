// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
int both = KOKKOS_OF_THE_TREE + KERNELS_OF_THE_TREE;
