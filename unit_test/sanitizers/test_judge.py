# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts/detail/check/compute_sanitizer.py makes of reports. A program of its name
stands in for the tool.

    test_judge.py JUDGE
"""

import os
import stat
import subprocess
import sys
import tempfile

HAZARD = """========= Error: Potential RAW hazard detected at __shared__ 0x6418 in block (2,0,0) :
=========     Write Thread (128,0,0) at void Strata::Detail::OnDevice::store_shared<double>(unsigned int, const T1 &)+0x4180 in CudaScratch.hpp:75
=========     Read Thread (0,0,0) at T1 Strata::Detail::OnDevice::load_shared<double>(unsigned int)+0x48e0 in CudaScratch.hpp:75
=========     Current Value : 110, Incoming Value : 21
=========         Host Frame: void Strata::Detail::Cuda::run_teams<4, 192, Strata::Detail::SyncFreeKernel<double, Kokkos::Cuda, 0, true> >(char const*) [0x1b5870] in program
=========
"""
COUNT = "========= RACECHECK SUMMARY: {} hazards displayed ({} errors, 0 warnings)\n"

CASES = [
    # name, expected to pass, text of the tool, its exit code
    ("nothing", True, COUNT.format(0, 0), 0),
    ("a hazard", False, HAZARD + COUNT.format(1, 1), 0),
    ("an error of another kind", False,
     "========= Host API memory access error at host access to 0x7f of size 72 bytes\n"
     "========= ERROR SUMMARY: 1 error\n", 0),
    ("more counted than listed", False, COUNT.format(2, 2), 0),
    ("no summary", False, "", 0),
    ("a program that fails", False, COUNT.format(0, 0), 3),
]


def main():
    judge = sys.argv[1]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        tool = os.path.join(folder, "compute-sanitizer")
        text = os.path.join(folder, "text")
        environment = {**os.environ, "PATH": folder + os.pathsep + os.environ["PATH"]}

        def passes(script, minutes):
            with open(tool, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + script)
            os.chmod(tool, os.stat(tool).st_mode | stat.S_IXUSR)
            return subprocess.run(
                [sys.executable, judge, "--tool", "racecheck", "--minutes", minutes,
                 "--log", os.path.join(folder, "log"), "program"], env=environment, check=False,
                stdout=subprocess.DEVNULL).returncode == 0

        for name, expected, said, code in CASES:
            with open(text, "w", encoding="utf-8") as file:
                file.write("========= COMPUTE-SANITIZER\n" + said)
            if passes(f"cat {text}; exit {code}\n", "1") != expected:
                print(f"{name}: expected to {'pass' if expected else 'fail'}")
                failed += 1
        if passes("sleep 60\n", "0.02"):
            print("a program that does not end: expected to fail")
            failed += 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
