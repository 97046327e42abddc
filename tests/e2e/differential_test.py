#!/usr/bin/env python3
"""Compares `kindred dedup` with a plain implementation in Python, over random corpora.

usage: differential_test.py KINDRED [CORPORA] [--seed FIRST] [--only SEED] [--keep-going]

differential/README.md says what is compared. A difference prints its seed and the command line, and leaves the smallest
corpus that still differs in a folder of its own.
"""
import argparse
import concurrent.futures
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from differential import trial  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kindred")
    parser.add_argument("corpora", type=int, nargs="?", default=300)
    parser.add_argument("--seed", default="1", help="of the first corpus, or 'fresh'")
    parser.add_argument("--only", type=int, help="one corpus, which is left where it is")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep-going", action="store_true")
    arguments = parser.parse_args()
    kindred = os.path.abspath(arguments.kindred)
    if arguments.only is not None:
        return trial.show(arguments.only, kindred)
    first = int.from_bytes(os.urandom(4), "little") if arguments.seed == "fresh" else int(arguments.seed)
    print(f"seeds {first} to {first + arguments.corpora - 1}", flush=True)
    totals = trial.Totals()
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        seeds = range(first, first + arguments.corpora)
        tasks = {seed: pool.submit(trial.try_seed, seed, kindred) for seed in seeds}
        for seed, task in tasks.items():
            found = task.result()
            totals.add(found)
            if found.difference:
                print(f"seed {seed}: {found.difference}", flush=True)
                if not arguments.keep_going:
                    pool.shutdown(cancel_futures=True)
                    trial.report(seed, kindred)
                    return 1
    print(totals)
    return totals.verdict()


if __name__ == "__main__":
    sys.exit(main())
