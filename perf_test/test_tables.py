#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts/summarise and scripts/plot say of tables whose numbers are known, of tables
that were just measured, and of those that README.md and docs/benchmarks.md quote.

  test_tables.py FOLDER WORK_DIR SCRIPTS sptrsv|factorization|validation|plots

FOLDER has the benchmarks."""
import os
import re
import shutil
import subprocess
import sys

FOLDER, WORK, SCRIPTS, WHAT = sys.argv[1:5]
ROOT = os.path.dirname(SCRIPTS)
SHORT = "--benchmark_min_time=0.001"


def run(*command, code=0):
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.returncode == code and "Traceback" not in done.stderr, (command, done)
    return done.stdout if code == 0 else done.stdout + done.stderr


def script(name, *arguments, code=0):
    return run(sys.executable, os.path.join(SCRIPTS, name), *arguments, code=code)


def refused(text, *arguments):
    """Exit code 1 and a message for users."""
    said = script(*arguments, code=1)
    assert re.search(text, said), (text, said)
    return said


def measure(program, table, *arguments):
    path = os.path.join(WORK, table)
    run(os.path.join(FOLDER, "strata_perf_" + program), *arguments, "--table", path)
    return path


def write(name, *lines):
    path = os.path.join(WORK, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))
    return path


def has(text, *parts):
    for part in parts:
        assert part in text, "%r is not in\n%s" % (part, text)


def page_says(page, sentence):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        has(" ".join(file.read().split()), sentence)


UNSEEN = [os.path.join(ROOT, "docs", "tables", "validation_tiles_%s_h200.csv" % part)
          for part in ("unseen", "large", "seed11")]


def sptrsv():
    header = "matrix,algorithm,chosen,scalar,rhs,rows,levels,solve_us,outcome,parameters,message"
    # The fastest of a peer's right answers counts; matrices without ours do not.
    said = script("summarise", "sptrsv", write(
        "known.csv", header,
        "a,automatic,sync_free,double,1,9,3,2,right,,",
        "a,sptrsv_drop_in,sync_free,double,1,9,3,6,right,,",
        "a,sptrsv_drop_in_fixed,sync_free,double,1,9,3,3,right,,",
        "a,kokkos_kernels_rp,,double,1,9,3,1,wrong,,",
        "a,kokkos_kernels_tp1,,double,1,9,3,24,right,team 32,",
        "a,kokkos_kernels_tp1chain,,double,1,9,3,12,right,threshold 64 team 64 vector 4,",
        "a,cusparse_spsv,,double,1,9,3,4,right,,", "b,automatic,blocks,double,1,9,3,10,right,,",
        "b,kokkos_kernels_rp,,double,1,9,3,240,right,,", "b,cusparse_spsv,,double,1,9,3,80,right,,",
        "b,cusparse_spsv_sell,,double,1,9,3,,failed,,too much padding for sliced ELL",
        "c,automatic,blocks,double,1,9,3,1,wrong,,", "c,cusparse_spsv,,double,1,9,3,80,right,,"))
    has(said, "| matrix | rows | level sets | chosen | Strata | cuSPARSE | x cuSPARSE | KK | "
        "KK with | x KK | drop-in | values fixed |",
        "| a | 9 | 3 | sync_free | 2 | 4 | 2 | 12 | tp1chain threshold 64 team 64 vector 4 | 6 "
        "| 6 | 3 |",
        "| b | 9 | 3 | blocks | 10 | 80 | 8 | 240 | rp | 24 | - | - |",
        "cuSPARSE's time over Strata's: 4 in the geometric mean of 2 matrices, least 2",
        "KK's time over Strata's: 12 in the geometric mean of 2 matrices, least 6",
        "KK's time over that of drop-in: 2 in the geometric mean of 1 matrices, least 2",
        "KK's time over that of values fixed: 4 in the geometric mean of 1 matrices, least 4")
    assert "| c " not in said, said

    summary = ("summarise", "sptrsv")
    refused("absent.csv", *summary, os.path.join(WORK, "absent.csv"))
    refused("mix scalars", *summary, write(
        "mixed.csv", header, "a,automatic,blocks,double,1,9,3,1,right,,",
        "a,automatic,blocks,float,1,9,3,1,right,,"))
    refused("no right answer of 'automatic'", *summary, write(
        "peers.csv", header, "a,cusparse_spsv,,double,1,9,3,1,right,,"))
    has(script(*summary, measure(
        "sptrsv", "measured.csv", "--gallery", "grid2d:12", "--gallery", "circuit:300", SHORT,
        "--algorithms", "automatic,kokkos_kernels,sptrsv_drop_in,sptrsv_drop_in_fixed")),
        "| circuit:300 | 300 | ", "KK's time over that of values fixed: ",
        "in the geometric mean of 2 matrices")


def factorization():
    header = "family,matrix,algorithm,rows,numeric_us,ready_us,new_values_us,apply_us,outcome"
    summary = ("summarise", "factorization")
    lines = ("f,a,strata,9,2,4,4,1,right", "f,a,cusparse_x,9,6,2,4,2,right",
             "f,a,cusparse_y,9,4,8,4,8,right", "g,b,strata,9,1,4,4,1,right",
             "g,b,cusparse_x,9,8,2,4,2,right", "g,b,cusparse_y,9,1,9,9,9,wrong")
    has(script(*summary, write("known.csv", header, *lines)),
        "| numeric | 2 | 4 | 2 | 2 | 2 | 2 | 8 | 8 | 8 | 8 |", "| ready | 2 | 1 | 0.5 |",
        "| f | 1 | 2 | 2 | 2 | 2 |", "| g | 1 | 8 | 8 | 0.5 | 0.5 |",
        "| a | 9 | 2 | 2 | 1 | 8 |\n| b | 9 | 8 | 0.5 | 1 | 2 |")
    refused(r"not right: c \(left_out\)", *summary,
            write("late.csv", header, *lines, "f,c,strata,9,,,,,left_out"))
    refused("no matrix", *summary, "--peer", "kokkos", write("known.csv", header, *lines))


def validation():
    header = ("family,system,scalar,rows,nnz,levels,longest_row,merged_levels,chosen,"
              "solve_us,a_us,a_merged_levels,a_timing,b_us,b_merged_levels,b_timing,"
              "cusparse_us,analysis_us,cusparse_analysis_us,bytes_us,floor_us,rowwise_error,"
              "outcome,message")
    # Regret 1, 2 and 1; analyses 4, 1 and 0.25 times cuSPARSE's; 2, 8 and 4 times as fast;
    # 1, 2 and 4 times the floor. The last choice is fastest, as the other's answer is wrong
    # where it is faster.
    first = write("first.csv", header,
                  "grid,g:1,double,9,9,3,3,1,a,10,10,1,full,90,1,once,20,400,100,10,10,1,right,",
                  "grid,g:2,double,9,9,3,3,1,a,20,20,1,full,10,1,full,160,100,100,1,10,1,right,")
    second = write(
        "second.csv", header, "long,l:1,double,200000,9,3,3,1,b,40,,1,left_out,40,1,full,160,"
        "50,200,2,10,1,right,")
    wrong = write("wrong.csv", header, "long,l:2,double,9,9,3,3,1,b,40,2,1,wrong,40,1,full,160,"
                  "50,200,2,10,1,right,",
                  "long,l:3,double,9,9,3,3,1,b,40,50,1,full,40,1,full,160,50,200,2,10,1,wrong,")
    summary = ("summarise", "validation")
    has(script(*summary, first, second),
        "3 systems in 2 families, double", "| regret | 3 | 1.26 | 1 | 1 | 2 | 2 | 2 | 2 |",
        "| analysis over cuSPARSE's | 3 | 1 | 0.25 | 1 | 4 | 4 | 4 | 4 |",
        "| cuSPARSE's solve over ours | 3 | 4 | 2 | 4 | 8 | 8 | 8 | 8 |",
        "| solve over its floor | 3 | 2 | 1 | 2 | 4 | 4 | 4 | 4 |",
        "| below 10,000 | 2 | 4 | 2 | 8 | 2 |", "| from 50,000 below 200,000 | 0 | - | - | - | - |",
        "| from 200,000 below 500,000 | 1 | 4 | 4 | 4 | 0.25 |",
        "| from 200,000 | 1 | 4 | 4 | 4 | 0.25 |", "| all | 3 | 4 | 2 | 8 | 1 |",
        "Regret at most 1.15: 66.7 % of the systems.",
        "| grid | 2 | 1 | 2 | 2 | 50.0 % | 2 | 4 | 4 | 2 | 1.41 | 2 |",
        "| all | 3 | 1 | 2 | 2 | 66.7 % | 1 | 4 | 4 | 2 | 2 | 4 |",
        "| bytes bind | 1 | 1 | 1 | 1 | 100.0 % | 4 | 4 | 2 | 2 | 1 | 1 |",
        "Largest regret:\n\n| system | family | rows | nnz | level sets | ratio | chosen | us | "
        "fastest | its us |\n|---|---|---|---|---|---|---|---|---|---|\n"
        "| g:2 | grid | 9 | 9 | 3 | 2 | a | 20 | b | 10 |")
    # A wrong answer is named, and is not the fastest.
    has(refused("2 answers are not right", *summary, wrong),
        "No right answer: l:2: a wrong", "No right answer: l:3: wrong",
        "| regret | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 |")
    refused("absent.csv", *summary, os.path.join(WORK, "absent.csv"))
    refused("'g:1' is in the tables twice", *summary, first, first)
    has(script(*summary, "--repeats", first, first), "4 systems in 1 families, double")
    refused("no column family.*strata_perf_validation", *summary,
            write("other.csv", "matrix,algorithm", "a,b"))
    refused("has no rows", *summary, write("empty.csv", header))
    refused("cut off", *summary, write("cut.csv", header, "grid,g:1,double,9"))
    with open(first, encoding="utf-8") as file:
        other = write("other.csv", *file.read().replace("b_", "c_").splitlines())
    refused("other columns", *summary, first, other)
    # What solves promise.
    both = [write(name + ".csv", header.replace("outcome", "accuracy,outcome"),
                  "grid,%s,double,9,9,3,3,1,a,10,10,1,full,90,1,once,20,400,100,10,10,1,%s,right,"
                  % (name, name)) for name in ("rowwise", "componentwise")]
    has(script(*summary, both[1]), "1 systems in 1 families, double, accuracy = componentwise")
    refused("mix accuracies", *summary, *both)

    # README.md has the numbers of the tables of unseen systems.
    count, mean = re.search(r"(?m)^\| all \| (\d+) \| ([\d.]+) \|",
                            script(*summary, "--repeats", *UNSEEN)).groups()
    page_says("README.md", "another seed: %s times as fast on %s systems" % (mean, count))
    count, share, regret, mean, least = re.search(
        r"(?s)validation_tiles_unseen_h200, (\d+) .*?([\d.]+) % within 1.15, mean ([\d.]+),"
        r".*?rule's: mean ([\d.]+), least ([\d.]+)", script("fit_choice")).groups()
    page_says("docs/benchmarks.md", "%s in the mean, at most 1.15 on %s %%" % (regret, share))
    page_says("README.md", "%s times as fast as cuSPARSE's in the geometric mean of %s systems "
              "that the library was not tuned on, and at least %s times" % (mean, count, least))
    has(script(*summary, measure("validation", "measured.csv", "--families", "deep,grid3d",
                                 "--per-family", "2", "--milliseconds", "1")),
        "4 systems in 2 families, double", "| grid3d | 2 |", "| deep | 2 |", "grid3d:14/random")


def draw(name, figure, *tables, flags=()):
    """(what is printed, the picture's text)"""
    picture = os.path.join(WORK, name + ".svg")
    said = script("plot", figure, *tables, "--output", picture, *flags)
    with open(picture, encoding="utf-8") as file:
        return said, file.read()


def is_committed(picture, now, count):
    with open(os.path.join(ROOT, "docs", picture), encoding="utf-8") as file:
        labels, committed = (re.findall(r">[\d.]+ ×[^<]*<", text) for text in (now, file.read()))
    assert len(labels) == count and labels == committed, \
        "docs/%s is not of its table: draw it as docs/tables/README.md says" % picture


def not_drawn(text, *arguments):
    picture = os.path.join(WORK, "refused.svg")
    refused(text, "plot", *arguments, "--output", picture)
    assert not os.path.exists(picture), arguments


def plots():
    runs = measure("sptrsv", "runs.csv", "--gallery", "grid2d:9", "--gallery", "circuit:300",
                   "--algorithms", "automatic,level_sets,serial", SHORT)
    has(draw("speedup", "speedup", runs)[0],
        "times as fast as serial substitution on 2 triangles")
    png = os.path.join(WORK, "speedup.png")
    script("plot", "speedup", runs, "--output", png)
    with open(png, "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n", png
    lines = ("matrix,algorithm,rhs,scalar,rows,nnz,analysis_us,solve_us,outcome",
             "a,automatic,1,double,9,9,1,2,right", "a,blocks,1,double,9,9,1,5,right",
             "a,subgraphs,1,double,9,9,1,1,wrong", "a,serial_substitution,1,double,9,9,1,4,right",
             "a,kokkos_kernels_rp,1,double,9,9,1,8,right",
             "a,kokkos_kernels_tp1,1,double,9,9,1,6,right")
    known = write("sptrsv.csv", *lines)
    has(draw("known", "speedup", known)[1], ">3.0 × (2 µs, 6 µs)<", ">geometric mean 3.0 ×<")

    # What scripts/demo says of such a table.
    said = script("summarise", "demo", WORK)
    for text in ("solve with L .* a\n", "automatic +2 us\n", "subgraphs +wrong\n",
                 "peer: kokkos_kernels_tp1 +6 us\n", r"fastest peer / automatic +2.00\n",
                 "in 1 of 1 comparisons; the peer takes 2 times"):
        assert re.search(text, said), (text, said)

    # The figures of the documents, and numbers beside them, are those of the tables.
    table = os.path.join(ROOT, "docs", "tables", "sptrsv_h200.csv")
    said, now = draw("tuned", "speedup", table, flags=["--peer", "cusparse"])
    mean, least, most, count = re.search(
        r"geometric mean ([\d.]+), from ([\d.]+) to ([\d.]+) times.* on (\d+) triangles",
        said).groups()
    page_says("docs/benchmarks.md", "The figure shows %s triangles of at most 216,000 rows that "
              "the library was tuned on: a solve is %s times as fast as cuSPARSE's in the "
              "geometric mean, and from %s to %s times on each" % (count, mean, least, most))
    is_committed("sptrsv_h200.svg", now, int(count))
    is_committed("unseen_h200.svg", draw("rows", "rows", *UNSEEN)[1], 5)
    said, now = draw("shares", "shares", *UNSEEN)
    at_once, ten = re.search(r"1 solve: (\d+) %, 10: (\d+) %", said).groups()
    page_says("README.md", "on 739 systems. The analysis has paid after one solve on %s %% of "
              "these, after ten on %s %%." % (at_once, ten))
    has(now, "739 systems")
    said, now = draw("petsc", "petsc", os.path.join(ROOT, "docs", "tables", "petsc_h200.csv"))
    mean, least, sets, first, again = (float(re.search(
        line + r": geometric mean ([\d.]+) on . systems, least ([\d.]+)", said).group(k))
        for line, k in (("MatSolve, cuSPARSE", 1), ("MatSolve, cuSPARSE", 2),
                        ("MatSolve, Kokkos Kernels' level sets", 1),
                        ("first solve, cuSPARSE", 1), ("after new values, cuSPARSE", 1)))
    assert round(3 / first) == 1, first
    page_says("docs/petsc.md", "MatSolve is %.1f times as fast as with cuSPARSE (least %.1f), and "
              "%.0f times as fast as Kokkos Kernels' own level sets" % (mean, least, sets))
    page_says("docs/petsc.md", "a third of cuSPARSE's time; a second one after new values %.2f "
              "times" % (1 / again))
    is_committed("petsc_h200.svg", now, 18)
    has(draw("roofline", "roofline", *UNSEEN)[1], "739 systems")
    bound = write("roofline.csv", "family,system,scalar,rows,chosen,solve_us,cusparse_us,floor_us,"
                  "outcome,analysis_us,cusparse_analysis_us,bytes_us,levels,merged_levels",
                  "f,bytes,double,9,a,8,9,4,right,5,5,4,10,2",
                  "f,latency,double,9,a,8,9,3,right,5,5,1,20,2")
    has(draw("bound", "roofline", bound)[0], "bound: 1 systems, 50 to 50 % of copy bandwidth")
    few = write("validation.csv", "family,system,scalar,rows,chosen,solve_us,cusparse_us,"
                "floor_us,outcome,analysis_us,cusparse_analysis_us",
                "f,at once,double,9,a,1,4,1,right,5,5", "f,2,double,9,a,1,9,1,right,15,5",
                "f,10,double,300000,a,1,2,1,right,15,5", "f,11,double,9,a,1,2,1,right,16,5",
                "f,none,double,9,a,2,1,1,right,9,5", "f,wrong,double,9,a,1,2,1,wrong,9,5")
    has(draw("few", "shares", few)[0], "1 solve: 20 %, 10: 60 %, all: inf solves")
    has(draw("few", "rows", few)[1], ">2.45 ×<", ">2 ×<", "5 systems")

    not_drawn("absent.csv", "speedup", os.path.join(WORK, "absent.csv"))
    not_drawn("has no rows", "speedup", write("empty.csv", "matrix,algorithm"))
    not_drawn("no column matrix.*strata_perf_sptrsv", "speedup", write("other.csv", "rows,kl", "1,2"))
    not_drawn("other columns", "speedup", known, runs)
    not_drawn("cusparse", "speedup", known, "--peer", "cusparse")
    not_drawn("mix scalars", "speedup",
              write("mixed.csv", *lines, "a,automatic,1,float,9,9,1,2,right"))


shutil.rmtree(WORK, ignore_errors=True)
os.makedirs(WORK)
{"sptrsv": sptrsv, "factorization": factorization, "validation": validation,
 "plots": plots}[WHAT]()
