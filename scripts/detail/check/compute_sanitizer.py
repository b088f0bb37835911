# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program under a tool of compute-sanitizer and judges the report.

    compute_sanitizer.py --tool TOOL --log FILE [--minutes M] PROGRAM ARGUMENT...

Fails if the program fails, if it takes longer than M minutes, if the tool does
not finish with a summary, or if it reports anything. The last line says what was
seen. FILE gets all that was written; it is kept where something failed.
"""

import argparse
import os
import re
import signal
import subprocess
import sys

# A record begins with a line that is not indented, and is not one of these.
BEGIN = re.compile(r"^========= \S")
NO_RECORD = re.compile(r"^========= (?:COMPUTE-SANITIZER|.*SUMMARY: |Target application )")
SUMMARY = re.compile(r"^========= (?:RACECHECK |ERROR |LEAK )?SUMMARY: (.*)")


def records_of(lines):
    """The records of a report, each a list of lines, and its summaries."""
    records, summaries, current = [], [], None
    for line in lines:
        if not line.startswith("========="):
            continue
        summary = SUMMARY.match(line)
        if summary:
            summaries.append(summary.group(1).strip())
        if summary or NO_RECORD.match(line) or line.strip() == "=========":
            current = None
        elif BEGIN.match(line):
            current = [line.rstrip()]
            records.append(current)
        elif current is not None:
            current.append(line.rstrip())
    return records, summaries


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--log", required=True)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    command = ["compute-sanitizer", "--tool", options.tool,
               "--print-limit", "1000000"]
    if options.tool == "racecheck":
        command += ["--racecheck-report", "hazard"]
    if options.tool == "memcheck":
        command += ["--leak-check", "full"]
    with open(options.log, "w", encoding="utf-8", errors="replace") as log:
        # A session of its own: the tool leaves the program running if it is ended.
        run = subprocess.Popen(command + options.program, stdout=log,
                               stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = run.wait(timeout=60 * options.minutes)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            status = f"no end within {options.minutes:g} minutes"
    with open(options.log, encoding="utf-8", errors="replace") as log:
        lines = log.readlines()

    records, summaries = records_of(lines)
    failures = [f"the program: {status}"] * (status != 0)
    failures += ["the tool wrote no summary"] * (not summaries)
    failures += [f"{len(records)} reports"] * bool(records)
    # What is counted but was not understood here is not let pass either.
    counts = [(re.match(r"\d+", summary), summary) for summary in summaries]
    failures += [f"the tool counts more than is listed: {summary}" for count, summary in counts
                 if count and int(count.group()) > len(records)]

    name = os.path.basename(options.program[0])
    for record in records[:3]:
        print("\n".join(record[:12]))
    if failures:
        tail = [line for line in lines if not line.startswith("=========")][-5:]
        print("".join(tail), end="")
    said = [line for line in lines if line.startswith(name + ":")]
    print(f"{options.tool}, {name}: " + ("; ".join(failures) or "nothing found"))
    for line in said[-1:]:
        print("  " + line.strip())
    if not failures:
        os.remove(options.log)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
