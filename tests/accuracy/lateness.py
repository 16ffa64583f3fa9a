#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who delays the job? Simulated jobs (lateness_jobs.py) are imported and judged, and the report is held against their truth.

    lateness.py [--seeds N] [--first SEED] [--steps N] [--only REGEX] [-j N] [--table] [--bin DIR] [--keep DIR]

A scenario has two cases: NAME.who (who is named, with what verdict, at which gain) and NAME.figures (S, S of ranks and stages, M_W,
M_S in "what_if" of the report; or that none is reported, where they cannot be known). One line a figure, as tests/gates.sh reads them: METRIC accuracy.lateness.CASE.FIGURE value limit. Exit 1 if one is beyond its limit.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import lateness_jobs

BLAME = ("STRAGGLER", "STRAGGLER_HOST", "STRAGGLER_GROUP", "SLOW_STAGE", "PERIODIC_STALLS")
S_OFF, RANK_OFF, M_OFF = 0.03, 0.03, 0.05  # of S; of the S of ranks and stages; of M_W and M_S
M_FROM = 1.02  # M_W and M_S are shares of an excess that must be there
ERROR_AT_MOST = 0.5  # of the gain: an error that covers everything says nothing

# ---- scenarios: name, configuration, who (planted: must be named; maybe: may be; no one), verdicts allowed, figures compared ----

SLOW, STAGE = {"STRAGGLER"}, {"SLOW_STAGE"}
EVEN = {"HEALTHY", "NOT_COMMUNICATION"}
BUBBLES = EVEN | {"NOT_ENOUGH_EVIDENCE", "COMM_BOUND"}  # waits by construction, and for no one
UNEVEN = {"IMBALANCE", "NOT_ENOUGH_EVIDENCE"}
MOVING = UNEVEN | {"CHANGE_POINT"}
TOO_LITTLE = {"NOT_ENOUGH_EVIDENCE"}
DDP, PIPE = "data=8 ", "shape=1f1b stages=4 data=4 "
FIGURES, NO_M, NONE, WITHHELD = ("s", "m_w", "m_s"), ("s",), (), ("withheld",)

SCENARIOS = [
    ("ddp_even", DDP, "nobody", EVEN, FIGURES),
    ("ddp_slow_rank", DDP + "fault=rank:5:1.1", "planted", SLOW, FIGURES),
    ("ddp_200_steps", DDP + "steps=200 fault=rank:2:1.06", "planted", SLOW, FIGURES),
    ("ddp_64_ranks", "data=64 steps=40 fault=rank:37:1.1", "planted", SLOW, FIGURES),
    ("ddp_two_slow", "data=16 fault=rank:3:1.1,rank:12:1.1", "planted", SLOW, FIGURES),
    ("ddp_slow_host", "data=16 per_host=4 fault=host:2:1.1", "planted", SLOW, FIGURES),
    ("ddp_slow_host_of_two", "data=8 per_host=4 fault=host:1:1.1", "planted", SLOW, FIGURES),
    ("ddp_two_ranks", "data=2 fault=rank:1:1.2", "planted", SLOW, FIGURES),
    ("ddp_random", DDP + "spread=0.3", "nobody", UNEVEN, FIGURES),
    ("ddp_random_slow", DDP + "spread=0.2 steps=200 fault=rank:4:1.3", "planted", SLOW, FIGURES),
    ("ddp_moving", DDP + "steps=80 fault=moving:5:1.5", "nobody", MOVING, FIGURES),
    ("ddp_accumulation", DDP + "accumulate=4 fault=rank:6:1.1", "planted", SLOW, FIGURES),
    ("ddp_overlap_even", DDP + "overlap=1", "nobody", EVEN, FIGURES),
    ("ddp_overlap_slow", DDP + "overlap=1 fault=rank:5:1.1", "planted", SLOW, FIGURES),
    ("ddp_overlap_random", DDP + "overlap=1 spread=0.3", "nobody", UNEVEN, FIGURES),
    ("ddp_few_steps", DDP + "steps=6 fault=rank:5:1.1", "maybe", TOO_LITTLE | SLOW, NONE),
    ("ddp_few_steps_even", DDP + "steps=4", "nobody", TOO_LITTLE, NONE),
    ("ddp_half_the_run", DDP + "steps=100 fault=rank:5:1.2:from=50", "planted", SLOW | {"CHANGE_POINT"}, NONE),
    ("ddp_evaluations_even", DDP + "steps=120 evaluate_every=10", "nobody", EVEN, NONE),
    ("ddp_evaluations_late", DDP + "steps=120 evaluate_every=10 fault=rank:3:2:kind=evaluation", "planted", SLOW, NONE),
    ("ddp_each_tenth_step", DDP + "steps=120 fault=rank:3:2:every=10", "planted", SLOW, NONE),
    ("ddp_clocks", DDP + "per_host=4 clock_ms=5 error_us=20 fault=rank:5:1.1", "planted", SLOW, FIGURES),
    ("ddp_clocks_even", DDP + "per_host=4 clock_ms=5 error_us=20", "nobody", EVEN, FIGURES),
    ("ddp_untimed_even", DDP + "untimed=0.2", "nobody", EVEN | TOO_LITTLE, NONE),
    ("ddp_untimed_slow", DDP + "untimed=0.2 steps=120 fault=rank:5:1.1", "maybe", SLOW | TOO_LITTLE, NONE),
    ("ddp_mostly_untimed", DDP + "untimed=0.7 fault=rank:5:1.1", "maybe", SLOW | TOO_LITTLE, NONE),
    # much waiting, and no schedule that is known to make it unavoidable
    ("forward_even", "shape=forward stages=4 data=1", "nobody", TOO_LITTLE, FIGURES),
    ("forward_slow_stage", "shape=forward stages=4 data=1 fault=stage:2:2", "planted", STAGE | SLOW, FIGURES),
    ("forward_3_slow_stage", "shape=forward stages=3 data=1 fault=stage:1:1.5", "planted", STAGE | SLOW, FIGURES),
    ("pipe_even", "shape=1f1b stages=4 data=1", "nobody", BUBBLES, FIGURES),
    ("pipe_slow_stage", "shape=1f1b stages=4 data=1 fault=stage:1:1.5", "planted", STAGE | SLOW, FIGURES),
    ("pipe_4x4_even", PIPE, "nobody", BUBBLES, FIGURES),
    ("pipe_4x4_slow_rank", PIPE + "fault=rank:5:1.1", "planted", SLOW, FIGURES),
    ("pipe_4x4_slow_in_last_stage", PIPE + "fault=rank:14:1.2", "planted", SLOW, FIGURES),
    ("pipe_4x4_last_stage", PIPE + "fault=stage:3:1.3", "planted", STAGE, FIGURES),
    ("pipe_4x4_random", PIPE + "spread=0.3", "nobody", UNEVEN, FIGURES),
    ("pipe_4x4_random_slow", PIPE + "spread=0.3 steps=100 fault=rank:6:1.4", "planted", SLOW, FIGURES),
    ("pipe_4x4_stage_and_rank", PIPE + "fault=stage:3:1.3,rank:5:1.6", "planted", STAGE | SLOW, FIGURES),
    ("pipe_4x4_extra_operations", PIPE + "extra_ranks=1+6+9 fault=rank:5:1.1", "planted", SLOW, FIGURES),
    ("pipe_4x4_uneven", PIPE + "uneven=8+9+10+11+12", "nobody", BUBBLES | UNEVEN, NO_M),
    ("pipe_4x4_uneven_slow", PIPE + "uneven=8+9+10+11+12 fault=rank:5:1.3", "planted", SLOW, NO_M),
    ("pipe_4x4_two_slow", PIPE + "fault=rank:5:1.3,rank:10:1.3", "planted", SLOW, FIGURES),
    ("pipe_4x4_slow_host", PIPE + "per_host=2 fault=host:3:1.2", "planted", SLOW, FIGURES),
    ("pipe_4x4_moving", PIPE + "steps=160 fault=moving:5:1.5", "nobody", MOVING, FIGURES),
    ("pipe_4x4_clocks", PIPE + "per_host=4 clock_ms=5 error_us=20 fault=rank:5:1.15", "planted", SLOW, FIGURES),
    ("pipe_4x4_clocks_even", PIPE + "per_host=4 clock_ms=5 error_us=20", "nobody", BUBBLES, FIGURES),
    ("pipe_4x4_untimed_even", PIPE + "untimed=0.2", "nobody", BUBBLES, NONE),
    ("pipe_4x4_untimed_slow", PIPE + "untimed=0.2 fault=rank:5:1.3", "maybe", SLOW | TOO_LITTLE, NONE),
    ("pipe_4x4_untimed_stage", PIPE + "untimed=0.2 fault=stage:3:2", "maybe", STAGE | TOO_LITTLE, NONE),
    ("pipe_4x4_few_steps", PIPE + "steps=5 fault=rank:5:1.3", "maybe", SLOW | TOO_LITTLE, NONE),
    ("pipe_4x2_last_stage", "shape=1f1b stages=4 data=2 fault=stage:3:1.4", "planted", STAGE, FIGURES),
    ("pipe_4x2_slow_rank", "shape=1f1b stages=4 data=2 fault=rank:3:1.2", "planted", SLOW, FIGURES),
    ("pipe_streams_even", "shape=1f1b_streams stages=4 data=2", "nobody", BUBBLES, FIGURES),
    ("pipe_streams_slow_rank", "shape=1f1b_streams stages=4 data=4 fault=rank:5:1.2", "planted", SLOW, FIGURES),
    ("pipe_streams_last_stage", "shape=1f1b_streams stages=4 data=4 fault=stage:3:1.3", "planted", STAGE, FIGURES),
    # computing goes on while messages are under way, and which of them it waits for is not on record
    ("interleaved_even", "shape=interleaved stages=4 data=2 steps=40", "nobody", BUBBLES, WITHHELD),
    ("interleaved_slow_rank", "shape=interleaved stages=4 data=4 steps=40 fault=rank:5:1.2", "maybe", SLOW | TOO_LITTLE, WITHHELD),
    ("interleaved_slow_stage", "shape=interleaved stages=4 data=2 steps=40 fault=stage:2:1.4", "maybe", STAGE | TOO_LITTLE, WITHHELD),
    ("tensor_2x4x2_even", "shape=1f1b stages=2 data=4 tensor=2 steps=40", "nobody", BUBBLES, FIGURES),
    ("tensor_2x4x2_slow_rank", "shape=1f1b stages=2 data=4 tensor=2 steps=40 fault=rank:3:1.15", "planted", SLOW, FIGURES),
    ("tensor_2x4x2_slow_group", "shape=1f1b stages=2 data=4 tensor=2 steps=40 fault=group:2:1.2", "planted", SLOW, FIGURES),
    ("big_128", "shape=1f1b stages=4 data=16 tensor=2 layers=1 microbatches=4 steps=24 fault=rank:50:1.3", "planted", SLOW, FIGURES),
    ("stencil_even", "shape=stencil ranks=16 rows=4 steps=40", "nobody", EVEN, FIGURES),
    ("stencil_slow_rank", "shape=stencil ranks=16 rows=4 steps=40 fault=rank:6:1.2", "planted", SLOW, FIGURES),
    ("stencil_slow_row", "shape=stencil ranks=16 rows=4 steps=40 fault=group:2:1.2", "planted", SLOW, FIGURES),
    ("stencil_random", "shape=stencil ranks=16 rows=4 steps=40 spread=0.3", "nobody", UNEVEN, FIGURES),
    ("chain_even", "shape=stencil ranks=8 rows=1", "nobody", EVEN, FIGURES),
    ("chain_slow_rank", "shape=stencil ranks=8 rows=1 fault=rank:3:1.2", "planted", SLOW, FIGURES),
    ("rooted_even", "shape=rooted ranks=8", "nobody", EVEN, FIGURES),
    ("rooted_slow_leaf", "shape=rooted ranks=8 fault=rank:3:1.3", "planted", SLOW, FIGURES),
    ("rooted_slow_root", "shape=rooted ranks=8 fault=rank:0:1.3", "planted", SLOW, FIGURES),
    ("outside_even", "shape=outside ranks=5", "nobody", EVEN, NONE),
    ("outside_late", "shape=outside ranks=5 fault=rank:4:1.3", "planted", SLOW | STAGE, NONE),
]

# ---- one run ----

def call(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.decode(errors='replace')[-400:]}")
    return done.stdout


def play(where, config, seed, keep, steps=0):
    """(report, truth) of one seed; of at least so many steps."""
    keys = dict(lateness_jobs.parse(k) for k in config.split())
    if steps:
        keys["steps"] = max(steps, keys.get("steps", 0))
    lines, truth = lateness_jobs.make(lateness_jobs.configure(**{**keys, "seed": seed}))
    run = tempfile.mkdtemp(prefix="ct-lateness-", dir=keep)
    try:
        with open(f"{run}/run.jsonl", "w", encoding="ascii") as file:
            file.writelines(lines)
        call(f"{where}/commtrace", "import", "jsonl", f"{run}/run.jsonl", "-o", f"{run}/trace")
        report = call(f"{where}/commtrace", "report", "--format=json", f"{run}/trace")
        if keep:
            with open(f"{run}/report.json", "wb") as file:
                file.write(report)
            with open(f"{run}/truth.json", "w", encoding="ascii") as file:
                json.dump(truth, file)
        return json.loads(report), truth
    finally:
        if not keep:
            shutil.rmtree(run, ignore_errors=True)


# ---- judging: {figure: value} ----

def judge_who(report, truth, who, codes):
    blamed = [f for f in report["findings"] if f["kind"] in BLAME]
    planted = [set(p["ranks"]) for p in truth["planted"] if p["ranks"]]
    culprits = set().union(*planted)
    sure = [f for f in blamed if f["confidence"] != "low"]
    out = {"wrong": float(any(set(f["ranks"]) - culprits for f in sure)),
           "verdict_wrong": float(report["verdict"]["code"] not in codes),
           "said": report["verdict"]["code"] + "".join(f" {f['kind']}{f['ranks'][:6]}:{f['confidence']}" for f in blamed)}
    if who == "nobody":
        out["blamed"] = float(bool(blamed))
    if who == "planted":
        named = set().union(*(f["ranks"] for f in blamed)) if blamed else set()
        first = set(blamed[0]["ranks"]) if blamed else set()
        out["right"] = float(bool(first) and first <= culprits and culprits <= named)
        if out["right"] and len(planted) == 1 and set(blamed[0]["ranks"]) == culprits and blamed[0]["time_lost_ns"]:
            gain, told = truth["gain"] * truth["seconds"] * 1e9, blamed[0]["time_lost_ns"]
            err = blamed[0]["time_lost_err_ns"] or 0
            out["covered"], out["error"], out["told_to_true"] = float(abs(told - gain) <= err), err / told, told / gain
    return out


def worst_by_chance(truth):
    """Does chance decide which ranks are the worst? So it does without a slow rank, and where lengths are random and another rank's S
    is no smaller than can be identified."""
    n, s_rank = len(truth["worst"]), sorted(truth["s_rank"], reverse=True)
    near = n < len(s_rank) and s_rank[n] > s_rank[n - 1] * (1 - S_OFF)
    return not any(p["ranks"] for p in truth["planted"]) or (truth["config"]["spread"] > 0 and near)


def judge_figures(report, truth, compared):
    """A figure that is withheld counts as not reported, where it can be known."""
    said = report.get("what_if") or {}
    if compared == WITHHELD:
        return {"told": float(bool(said.get("s")))}
    out = {"not_told": float(not said.get("s"))}
    if not said.get("s"):
        return out
    out["s_off"] = abs(said["s"] / truth["s"] - 1)
    for key, name in (("s_rank", "rank"), ("s_stage", "stage")):
        theirs = {row[name]: row["s"] for row in said.get(key) or [] if row["s"] is not None}
        pairs = [(theirs[i], true) for i, true in enumerate(truth[key]) if i in theirs]
        if pairs:
            out[f"{key}_off"] = max(abs(mine / true - 1) for mine, true in pairs)
    for key in ("m_w", "m_s"):
        if key in compared and truth["s"] >= M_FROM and truth[key] is not None:
            if said.get(key) is None:
                out["not_told"] = float(key == "m_s" or not worst_by_chance(truth))
            else:
                out[f"{key}_off"] = abs(said[key] - truth[key])
    return out


# figure -> (how seeds are summed up, limit)
LIMITS = {"no_report": ("sum", "0"), "right": ("mean", ">=1"), "wrong": ("sum", "0"), "blamed": ("sum", "0"),
          "verdict_wrong": ("sum", "0"),
          "error": ("median", str(ERROR_AT_MOST)), "not_told": ("sum", "0"), "told": ("sum", "0"), "s_off": ("max", str(S_OFF)),
          "s_rank_off": ("max", str(RANK_OFF)), "s_stage_off": ("max", str(RANK_OFF)),
          "m_w_off": ("max", str(M_OFF)), "m_s_off": ("max", str(M_OFF))}


def sum_up(values, how):
    values = sorted(values)
    return {"mean": sum(values) / len(values), "sum": sum(values), "max": values[-1], "median": values[len(values) // 2]}[how]


def holds(value, limit):
    return value >= float(limit[2:]) if limit.startswith(">=") else value <= float(limit)


def tell(case, rows, table):
    """The figures of a case; whether all are within their limits."""
    good, parts = True, []
    for figure, (how, limit) in LIMITS.items():
        values = [row[figure] for row in rows if figure in row]
        if not values:
            continue
        value = sum_up(values, how)
        good &= holds(value, limit)
        parts.append(f"{figure} {value:.3g}" + ("" if holds(value, limit) else "!"))
        if not table:
            print(f"METRIC accuracy.lateness.{case}.{figure} {value:.6g} {limit}", flush=True)
    if table:
        said = collections.Counter(row["said"] for row in rows if "said" in row).most_common(2)
        gains = [row["told_to_true"] for row in rows if "told_to_true" in row]
        parts += [f"told/true {sum_up(gains, 'median'):.2f}"] if gains else []
        print(f"{'ok  ' if good else 'FAIL'} {case:36} {'; '.join(parts)}   {'; '.join(f'{n}x {s}' for s, n in said)}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=25)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=0, help="of each job, at least")
    parser.add_argument("--only", help="cases whose name this regular expression matches")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--bin", default=os.path.join(os.path.dirname(__file__), "../../build/bin"))
    parser.add_argument("--keep", help="leave recordings, reports and truths in this folder")
    args = parser.parse_args()
    cases = {f"{s[0]}.{part}" for s in SCENARIOS for part in (("who", "figures") if s[4] else ("who",))}
    chosen = {c for c in cases if re.search(args.only or "", c)}
    if not chosen:
        parser.error("no such case")
    bad, covered = [], []
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        for name, config, who, codes, compared in SCENARIOS:
            parts = [p for p in ("who", "figures") if f"{name}.{p}" in chosen]
            if not parts:
                continue
            runs = [pool.submit(play, args.bin, config, args.first + i, args.keep, args.steps) for i in range(args.seeds)]
            results = []
            for run in runs:
                try:
                    results.append(run.result())
                except (RuntimeError, ValueError) as error:
                    print(f"{name}: {error}", file=sys.stderr, flush=True)
            for part in parts:
                rows = [judge_who(*r, who, codes) if part == "who" else judge_figures(*r, compared) for r in results]
                rows += [{"no_report": 1.0}] * (len(runs) - len(results))
                covered += [row["covered"] for row in rows if "covered" in row]
                if not tell(f"{name}.{part}", rows, args.table):
                    bad.append(f"{name}.{part}")
    if covered:
        share = sum(covered) / len(covered)
        print(f"METRIC accuracy.lateness.gain_covered {share:.4g} >=0.95")
        bad += ["gain_covered"] if share < 0.95 and len(covered) >= 20 else []
    if bad and not args.table:
        print("beyond their limits:", *bad, file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
