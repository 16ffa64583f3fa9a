#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that hang, each played, killed and judged from what is left.

    live.py [--timing events,host] [--kill all,launcher,staggered,kills] [--jobs N] [--only REGEX | --all] [--drop-each] [--gate]

Without --all the rows of scenarios.py that are marked as default. One line a job; exit 1 if one is not judged as it should be.
--drop-each takes the files of one rank away, every rank in turn: then nothing wrong may be said, and less is right.
--gate prints METRIC lines as well.
"""
import argparse
import concurrent.futures
import random
import re
import sys
import time

import jobs
import judge
import scenarios


def check(row, report, truth, dropped):
    """right, wrong or silent, and why."""
    result = judge.judge(report, truth)
    if dropped:
        # of those who left nothing, nothing more is known
        named = set().union(*judge.said_of(report).values())
        allowed = set().union(*(r for a in judge.parse(truth) for r in a.values())) | set(dropped)
        return ("right" if result == "right" else "silent" if named <= allowed else "wrong"), ""
    if result == "right" and row.get("low") and any(v["confidence"] != "low" for v in report["verdicts"]):
        return "wrong", "too sure"
    victims = sum(v["victims_count"] or 0 for v in report["verdicts"])
    if result == "right" and "victims" in row and len(judge.said_of(report)) == len(report["verdicts"]) == 1 and victims != row["victims"]:
        return "wrong", f"{victims} victims, not {row['victims']}"
    return result, ""


def play(row, timing, how, drop=()):
    """A line of the table: (row, timing, how, dropped, result, words, seconds)."""
    begin = time.monotonic()
    rng = random.Random(f"{row['name']} {timing} {how}")
    dropped = list(drop) or row.get("drop", [])
    truth = row.get("host", row["events"]) if timing == "host" else row["events"]
    try:
        with jobs.Job(row.get("ranks", 8), row["job"].split(), row["faults"], timing=timing, on_death=row.get("on_death", "wait"),
                      env=row.get("env")) as job:
            if row.get("on_death") == "kill":
                job.until_over()
            else:
                job.until_stuck(row.get("quiet_s", max(jobs.QUIET_S, row.get("after_s", 0))))
                if job.is_over():
                    raise jobs.Failed(f"it has ended by itself: {job.errors()}")
                job.kill("launcher" if row.get("after_s") else how, rng)
            if dropped:
                job.drop(dropped)
            code, report, _, errors = job.hang()
        if judge.shape(code, report):
            return "wrong", f"{judge.shape(code, report)} {errors.strip()[-200:]}", time.monotonic() - begin
        result, why = check(row, report, truth, list(drop))
        said = judge.show(report)
        return result, said if result == "right" else f"{said}, not {truth}{': ' if why else ''}{why}", time.monotonic() - begin
    except jobs.Failed as e:
        return "failed", str(e), time.monotonic() - begin


def plan(args):
    out = []
    for row in scenarios.ROWS:
        if not (re.search(args.only, row["name"]) if args.only else args.all or row.get("default")):
            continue
        for timing in args.timing.split(","):
            for how in args.kill.split(","):
                drops = [(r,) for r in range(row.get("ranks", 8)) if r not in row.get("no_files", [])] if args.drop_each else [()]
                if args.drop_each and row.get("drop"):
                    continue
                out += [(row, timing, how, drop) for drop in drops]
                if row.get("on_death") == "kill" or row.get("after_s"):
                    break  # it is the launcher that ends these
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--timing", default="events,host")
    parser.add_argument("--kill", default="all,staggered")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--only")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--drop-each", action="store_true")
    parser.add_argument("--gate", action="store_true")
    args = parser.parse_args()
    counts = {"right": 0, "wrong": 0, "silent": 0, "failed": 0}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for (row, timing, how, drop), (result, words, seconds) in pool.map(lambda p: (p, play(*p)), plan(args)):
            counts[result] += 1
            dropped = f" without {drop[0]}" if drop else ""
            print(f"{result:6} {row['name']:20} {timing:6} {how:9}{dropped} {seconds:5.1f}s  {words}", flush=True)
    n = sum(counts.values())
    print(f"{n} jobs: " + ", ".join(f"{v} {k}" for k, v in counts.items()))
    if args.gate:
        name = "dropped" if args.drop_each else "scenarios"
        print(f"METRIC hang.{name}.wrong {counts['wrong'] + counts['failed']} 0")
        if not args.drop_each:
            print(f"METRIC hang.{name}.right {counts['right'] / n:.4f} >=1")
    return int(n == 0 or counts["wrong"] + counts["failed"] > 0 or (counts["silent"] > 0 and not args.drop_each))


if __name__ == "__main__":
    sys.exit(main())
