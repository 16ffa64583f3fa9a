#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accusations.py REPORT.json TRUTH: exit 1 if `commtrace hang --json` accuses anyone beside the truth.

The one rule of every judge, in Python and in shell: a right verdict does not excuse a wrong one beside it. TRUTH is a text:
alternatives between `|`, each a list of verdicts between `;`, each a code with its ranks; `-` is no verdict at all:

    NEVER_ENTERED 2; DEAD_RANK 3 | NEVER_ENTERED 2
"""
import json
import sys

# These report that the cause is unknown, and accuse no rank.
SILENT = {"UNKNOWN"}


def ranks_of(words):
    ranks = set()
    for word in words:
        first, _, last = word.partition("-")
        ranks.update(range(int(first), int(last or first) + 1))
    return ranks


def parse(truth):
    """Each alternative as a set of pairs (code, rank)."""
    ways = []
    for alternative in truth.split("|"):
        way = set()
        for verdict in alternative.split(";"):
            words = verdict.split()
            if words and words[0] != "-":
                way |= {(words[0], rank) for rank in ranks_of(words[1:])}
        ways.append(way)
    return ways


def accused(report):
    """Pairs (code, rank) of all verdicts that accuse. Of several verdicts with one code the ranks count together."""
    return {(v["code"], rank) for v in report["verdicts"] if v["code"] not in SILENT for rank in v["ranks"]}


def weigh(report, ways):
    """right; silent: nothing wrong, and not all of it; wrong: an accusation that no single alternative has."""
    said = accused(report)
    if said in ways:
        return "right"
    return "silent" if any(said <= way for way in ways) else "wrong"


def main():
    with open(sys.argv[1]) as file:
        report = json.load(file)
    if weigh(report, parse(sys.argv[2])) == "wrong":
        sys.exit(f"{sorted(accused(report))}, not {sys.argv[2]}")


if __name__ == "__main__":
    main()
