# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Algorithms of strata_perf_sptrsv: names, groups and how lines of them are drawn."""
from plots import BLUE, GREEN, GREY, INDIGO, ORANGE, PURPLE, VERMILION
from tables import UserError, number

PEER_NAMES = {"cusparse": "cuSPARSE", "kokkos_kernels": "Kokkos Kernels",
              "serial": "serial substitution"}
PEERS = list(PEER_NAMES)
COLOURS = {
    "automatic": VERMILION,
    "substitution": "#F0E442",
    "level_sets": ORANGE,
    "subgraphs": PURPLE,
    "sync_free": "#882255",
    "sync_free_subgraphs": "#44AA99",
    "blocks": INDIGO,
    "serial": GREY,
    "kokkos_kernels": BLUE,
    "cusparse": GREEN,
}


def family_of(algorithm):
    """Ours by name; a peer's algorithms are one family."""
    for peer in PEERS:
        if algorithm.startswith(peer):
            return peer
    return algorithm


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


def is_own(algorithm):
    return family_of(algorithm) not in PEERS


def colour_of(family):
    """Grey for an algorithm that is not listed here."""
    return COLOURS.get(family, "#555555")


def label_of(family):
    return PEER_NAMES.get(family, "Strata, " + family.replace("_", " "))


def check_one_kind(kinds, source):
    """`kinds`: numbers of right-hand sides and scalars, in pairs."""
    if len(set(kinds)) > 1:
        raise UserError("%s mixes scalars or numbers of right-hand sides; plot "
                        "one kind at a time" % source)
