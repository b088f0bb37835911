# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Algorithms of strata_perf_sptrsv: ours and those of peers."""
from tables import number

PEER_NAMES = {"cusparse": "cuSPARSE", "kokkos_kernels": "Kokkos Kernels",
              "serial": "serial substitution"}
PEERS = list(PEER_NAMES)


def family_of(algorithm):
    """Ours by name; a peer's algorithms are one family."""
    for peer in PEERS:
        if algorithm.startswith(peer):
            return peer
    return algorithm


def is_own(algorithm):
    return family_of(algorithm) not in PEERS


def solve_us(row):
    return number(row, "solve_us")


def fastest(rows):
    """{family: {matrix: the right row of its fastest algorithm}}"""
    found = {}
    for row in rows:
        of = found.setdefault(family_of(row["algorithm"]), {})
        if row["outcome"] == "right" and \
                not solve_us(row) >= solve_us(of.get(row["matrix"], {})):
            of[row["matrix"]] = row
    return found
