# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Algorithms of strata_perf_sptrsv: names, groups and how lines of them are
drawn."""
from tables import UserError, number

PEERS = ["cusparse", "kokkos_kernels", "serial"]
PEER_NAMES = {
    "cusparse": "cuSPARSE",
    "kokkos_kernels": "Kokkos Kernels",
    "serial": "serial substitution",
}
# Colours that people with any colour vision tell apart (Okabe and Ito).
COLOURS = {
    "automatic": "#D55E00",
    "substitution": "#F0E442",
    "level_sets": "#E69F00",
    "subgraphs": "#CC79A7",
    "sync_free": "#882255",
    "sync_free_subgraphs": "#44AA99",
    "blocks": "#332288",
    "serial": "#999999",
    "kokkos_kernels": "#0072B2",
    "cusparse": "#009E73",
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
