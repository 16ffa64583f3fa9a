#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Healthy jobs, and slow ones, ended from outside at a moment drawn by a seed: no rank may be blamed.

    healthy.py [--count N] [--seed N] [--jobs N] [--only INDEX] [--hang-after TIME]

--hang-after  COMMTRACE_HANG_AFTER of those that wait for nothing but the machine: 1s beside a load shows what that may be blamed on

Each is read while it runs as well. No verdict, exit 0, the state running, and killed, interrupted or ended afterwards.
Prints METRIC lines: jobs that were blamed 0.
"""
import argparse
import concurrent.futures
import random
import sys
import time

import jobs
import judge

EVERYBODY = [f"pause:rank={rank},every=2,ms=2500" for rank in range(8)]

# On a machine that has more to do, any rank may stand still for longer than a second. --hang-after sets another one for these.
BUSY = "5s"

# options, faults, COMMTRACE_HANG_AFTER: how long operations of the slow ones really wait, users have to know
KINDS = [
    ("healthy", "--workload ddp --step-ms 10", [], BUSY),
    ("healthy", "--workload fsdp --step-ms 10", [], BUSY),
    ("healthy", "--workload moe --step-ms 10", [], BUSY),
    ("healthy", "--workload megatron --tp 2 --pp 2 --dp 2 --step-ms 10", [], BUSY),
    ("healthy", "--workload megatron --tp 1 --pp 4 --dp 2 --step-ms 10", [], BUSY),
    ("healthy", "--workload decode --step-ms 5", [], BUSY),
    ("healthy graphs", "--workload decode --step-ms 5 --graph", [], BUSY),
    ("run ahead", "--workload ddp --step-ms 25", ["run-ahead:ms=24"], BUSY),
    ("slow rank", "--workload ddp --step-ms 20", ["slow-rank:rank=5,pct=300"], "30s"),
    ("late host", "--workload fsdp --step-ms 10", ["late-host:rank=3,ms=300"], "30s"),
    ("pause", "--workload ddp --step-ms 10", ["pause:rank=3,every=5,ms=3000"], "30s"),
    ("gpu pause", "--workload megatron --tp 2 --pp 2 --dp 2 --step-ms 10", ["gpu-pause:rank=3,ms=2000,every=4"], "30s"),
    ("rotating", "--workload ddp --step-ms 10", ["rotating:every=12,ms=1400"], "30s"),
    ("starved", "--workload decode --step-ms 10", ["starve-sm:rank=2,ms=30"], "30s"),
    ("long computing", "--workload ddp --step-ms 1500", [], "1s"),
    ("nothing in flight", "--workload ddp --step-ms 5", EVERYBODY, "1s"),
    ("ends by itself", "--workload ddp --step-ms 5 --steps 20", [], BUSY),
]


def drawn(seed, count):
    rng = random.Random(seed)
    out = []
    for index in range(count):
        name, options, faults, hang_after = KINDS[index % len(KINDS)] if index < len(KINDS) else rng.choice(KINDS)
        options = options.split()
        if "--steps" not in options:
            options += ["--steps", "1000000"]
        out.append({"index": index, "name": name, "faults": faults, "hang_after": hang_after, "timing": rng.choice(["events", "host"]),
                    "options": options + ["--seed", str(rng.randrange(1 << 30))], "after_s": rng.choice([0.3, 1, 3]) * rng.random(),
                    "steps": rng.choice([0, 1, 2, 4]), "how": rng.choice(["all", "launcher", "staggered", "staggered", "kills", "kills"]),
                    "on_death": rng.choice(["wait", "kill"])})
    return out


def blamed(job, states):
    """None, or what is wrong with what is said now."""
    code, report, _, errors = job.hang()
    problem = judge.shape(code, report)
    if problem:
        return f"{problem} {errors.strip()[-200:]}"
    if report["verdicts"]:
        return judge.show(report)
    return None if report["state"] in states else f"state {report['state']}"


def play(one):
    begin = time.monotonic()
    try:
        with jobs.Job(8, one["options"], one["faults"], timing=one["timing"], hang_after=one["hang_after"], on_death=one["on_death"]) as job:
            if one["name"] == "ends by itself":
                job.until_over()
                return blamed(job, ("ended",)), time.monotonic() - begin
            job.until_steps(one["steps"])
            while not job.all_have_recorded():
                time.sleep(0.02)
            time.sleep(one["after_s"])
            problem = blamed(job, ("running",)) if one["steps"] else None
            job.kill(one["how"], random.Random(one["index"]))
            problem = problem and f"while it runs: {problem}" or blamed(job, ("killed", "interrupted"))
        return problem, time.monotonic() - begin
    except jobs.Failed as e:
        return str(e), time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--only", type=int)
    parser.add_argument("--hang-after")
    args = parser.parse_args()
    plan = [p for p in drawn(args.seed, args.count) if args.only in (None, p["index"])]
    for one in plan:
        if args.hang_after and one["hang_after"] == BUSY:
            one["hang_after"] = args.hang_after
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for one, (problem, seconds) in pool.map(lambda p: (p, play(p)), plan):
            bad += problem is not None
            print(f"{'blamed' if problem else 'right ':6} {one['index']:3} {one['name']:18} {one['options'][1]:9} {one['timing']:6} {one['how']:9} "
                  f"{one['on_death']:4} {seconds:5.1f}s  {problem or ''}", flush=True)
    print(f"{len(plan)} healthy jobs, {bad} of them blamed")
    print(f"METRIC hang.healthy.blamed {bad} 0")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
