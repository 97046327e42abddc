#!/usr/bin/env python3
"""Runs with random shapes, formats, threads and budgets keep to their memory budget, or are refused with a message that
names a sufficient budget. Their output does not depend on the budget.

usage: memory_mix_test.py KINDRED [RUNS] [--seed FIRST] [--only SEED]

Without RUNS it does a few small runs, the same every time. `make memory` does 200 of all sizes, after the runs that once
exceeded their budget.
"""
import argparse
import os
import pathlib
import resource
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from memory_mix import runs  # noqa: E402

FEW = 9
# The peak memory of a child begins with that of its parent.
MOST_OWN_MEBIBYTES = 100


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kindred")
    parser.add_argument("runs", type=int, nargs="?")
    parser.add_argument("--seed", default="1", help="of the first run, or 'fresh'")
    parser.add_argument("--only", type=int, help="one run, whose files stay where they are")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--no-named", action="store_true", help="without those that once broke their budget")
    parser.add_argument("--temp")
    arguments = parser.parse_args()
    kindred = os.path.abspath(arguments.kindred)
    if runs.is_sanitized(kindred):
        print("sanitizers keep memory of their own: nothing to measure")
        return 0
    small = arguments.small or arguments.runs is None
    first = int.from_bytes(os.urandom(3), "little") if arguments.seed == "fresh" else int(arguments.seed)
    if arguments.only is not None:
        folder = pathlib.Path(tempfile.mkdtemp(dir=arguments.temp)) / "run"
        found = runs.try_case(runs.Runs(kindred, folder), runs.choose_case(arguments.only, small))
        show(found)
        print(f"the inputs are in {folder}")
        return 1 if found.wrong else 0
    cases = [runs.choose_case(seed, small) for seed in range(first, first + (arguments.runs or FEW))]
    if not small and not arguments.no_named:
        cases = runs.cases_once_broken() + cases
    wrong = refused = 0
    most = 0.0
    with tempfile.TemporaryDirectory(dir=arguments.temp) as folder:
        for case in cases:
            begun = time.monotonic()
            found = runs.try_case(runs.Runs(kindred, pathlib.Path(folder) / "run"), case)
            show(found, time.monotonic() - begun)
            wrong += 1 if found.wrong else 0
            refused += 1 if found.refused else 0
            most = max(most, found.ratio)
    print(f"{len(cases)} runs: {wrong} wrong, {refused} refused first, at most {most:.3f} of the budget held")
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / runs.MEBIBYTE
    assert own < MOST_OWN_MEBIBYTES, f"this test took {own} MiB, which its children are charged with"
    return 1 if wrong else 0


def show(found, seconds=0.0):
    refusal = f", refused, then {found.refused} MiB" if found.refused else ""
    print(f"{found.ratio:.3f} of {found.case.budget} MiB{refusal}: {found.case} ({seconds:.1f} s)", flush=True)
    for problem in found.wrong:
        print(f"  WRONG: {problem}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
