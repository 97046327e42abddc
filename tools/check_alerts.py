#!/usr/bin/env python3
"""Fails if docs/alerts.yml names a metric that the program does not have.

usage: check_alerts.py ROOT

Names are looked for in the sources of the metrics. tests/e2e/failover_test.py looks for them in what processes expose.
"""
import pathlib
import re
import sys

HISTOGRAM_PARTS = ("_count", "_bucket", "_sum")
PROMETHEUS = {"up"}  # its own


def expressions(root):
    """The alerts and their expressions."""
    found, alert = {}, None
    for line in (root / "docs/alerts.yml").read_text().splitlines():
        if match := re.match(r" *- alert: (\w+)$", line):
            alert = match[1]
            assert alert not in found, f"docs/alerts.yml has two alerts called {alert}"
        elif match := re.match(r" *expr: (.+)$", line):
            found[alert] = match[1]
    return found


def names_in(expression):
    """The metrics of an expression, without the parts of histograms."""
    bare = re.sub(r'"[^"]*"', '""', expression)
    names = set(re.findall(r"\b(?:kindred|process)_\w+|\bup\b", bare))
    return {re.sub(f"({'|'.join(HISTOGRAM_PARTS)})$", "", name) for name in names}


def metrics_in_sources(root):
    found = set()
    for file in (root / "src/server").rglob("*.cc"):
        if not file.name.endswith("_test.cc"):
            found.update(re.findall(r'"((?:kindred|process)_[a-z_]+)"', file.read_text()))
    return found


def faults_of(rules, known):
    if not rules:
        yield "docs/alerts.yml has no rules"
    for alert, expression in rules.items():
        names = names_in(expression)
        if not names:
            yield f"docs/alerts.yml: {alert} has no metric: {expression}"
        for name in sorted(names - known - PROMETHEUS):
            yield f"docs/alerts.yml: {alert} uses {name}, which nothing in src/server exposes"


def main():
    root = pathlib.Path(sys.argv[1])
    faults = list(faults_of(expressions(root), metrics_in_sources(root)))
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
