# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of a peer over ours in tables of strata_perf_factorization: the whole distribution,
by family if the tables have the validation set, and the worst matrices. A peer of several
algorithms counts as the fastest right one of the numeric phase. Means are geometric.
Matrices that ours gets wrong, or does not finish, are named, and the exit status is then 1."""
from tables import UserError, geometric_mean, known, number, print_markdown, read_tables
from validation import QUANTILES, quantile

TIMES = {"numeric": "numeric_us", "ready": "ready_us", "new values": "new_values_us",
         "apply": "apply_us"}
WORST = 10


def add_options(parser):
    parser.add_argument("tables", nargs="+", metavar="TABLE.csv")
    parser.add_argument("--peer", default="cusparse",
                        help="how its algorithms' names begin (default: cusparse)")


def summarise(options):
    rows = read_tables(options.tables, ("matrix", "algorithm", "numeric_us", "outcome"),
                       "strata_perf_factorization")
    matrices, bad, speedups = {}, [], {}
    for row in rows:
        matrices.setdefault(row["matrix"], []).append(row)
    for name, lines in matrices.items():
        ours = [row for row in lines if row["algorithm"] == "strata"]
        if len(ours) != 1:
            raise UserError("'%s' has %d lines of strata" % (name, len(ours)))
        if ours[0]["outcome"] != "right":
            bad.append("%s (%s)" % (name, ours[0]["outcome"]))
            continue
        peers = [row for row in lines if row["algorithm"].startswith(options.peer)
                 and row["outcome"] == "right"]
        if peers:
            peer = min(peers, key=lambda row: number(row, "numeric_us"))
            speedups[name] = {what: number(peer, key) / number(ours[0], key)
                              for what, key in TIMES.items()}
    if not speedups:
        raise UserError("no matrix has right times of both strata and " + options.peer)

    table = []
    for what in TIMES:
        values = known(of[what] for of in speedups.values())
        table.append([what, len(values), geometric_mean(values),
                      *(quantile(values, q) for q in (0, 2, 10, *QUANTILES))])
    print_markdown([options.peer + " over strata", "matrices", "mean", "least", "2 %", "10 %"]
                   + ["%d %%" % q for q in QUANTILES], table)
    families = {}
    for name, of in speedups.items():
        families.setdefault(matrices[name][0].get("family", ""), []).append(of)
    if len(families) > 1:
        print_markdown(["family", "matrices", "numeric", "least", "ready", "least"], [
            [family or "-", len(some)] + [f([of[what] for of in some]) for what in
                                          ("numeric", "ready") for f in (geometric_mean, min)]
            for family, some in families.items()])
    worst = sorted(speedups, key=lambda name: speedups[name]["numeric"])[:WORST]
    print_markdown(["matrix", "rows", *TIMES], [
        [name, matrices[name][0]["rows"], *speedups[name].values()] for name in worst])
    if bad:
        raise UserError("not right: " + ", ".join(bad))
