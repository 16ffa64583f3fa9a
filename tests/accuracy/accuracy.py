#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How right the answers are: runs with known truth (commtrace-synth), what commtrace says of them, and the two compared.

    accuracy.py [--seeds N] [--rows REGEX] [--first SEED] [--bin DIR] [--table | --check]

One line a figure, as the gates read them: METRIC accuracy.ROW.FIGURE value limit. A row is a kind of run, played with N
seeds (25); --table prints all figures of each row side by side instead, --check ends with 1 if one is beyond its limit. The truth comes from the file that the generator
writes beside the run; nothing here looks at the analyzer's inside.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

STRAGGLERS = ("STRAGGLER", "STRAGGLER_HOST", "STRAGGLER_GROUP")
# Findings that hold something against ranks. Verdicts that hold nothing against anyone.
ACCUSING = STRAGGLERS + ("SLOW_STAGE", "PERIODIC_STALLS")
FINE = ("HEALTHY", "NOT_COMMUNICATION")
# Findings about the trace or the machine, not about what the job does.
ASIDE = ("ENVIRONMENT_DIFFERS", "SETTING_NOT_READ", "SETTING_CONFLICT", "ADVICE", "TRACER_OVERHEAD", "DROPPED_RECORDS")

WIDE = "--hosts 8 --gpus-per-host 8 --workload ddp --steps 200 --step-ms 300 --noise-pct 0.2 --event-jitter-us 5 --end-skew-us 10"
CLOCKS = "--clock-offset-ms 50 --clock-drift-ppm 20 --event-jitter-us 50 --end-skew-us 10"
NODE = "--workload megatron --noise-pct 2 --clock-offset-ms 20 --clock-drift-ppm 10"
UNEVEN = "--hosts 4 --gpus-per-host 4 --steps 40 --noise-pct 3 --hiccup 0.01:50"
SMALL = "--noise-pct 0.5 --event-jitter-us 5 --end-skew-us 10"


# ---- what one run shows: {figure: value}; None: it does not say anything about this figure ----

def named(report):
    return {r for f in report["findings"] if f["kind"] in STRAGGLERS for r in f["ranks"]}


def expected(truth):
    return {r for f in truth["expected"]["findings"] if f["kind"] in STRAGGLERS for r in f["ranks"]}


def stragglers(report, truth):
    theirs, ours = expected(truth), named(report)
    # whose GPU had no free SMs may be named, or no one
    touched = {r for f in truth["faults"] for r in f["ranks"]}
    out = {"false_flags": float(bool(ours - theirs - touched))}
    if theirs:
        out["recall"] = float(theirs <= ours)
        # all of it together: of two that are equally slow, each alone costs nothing
        loss = truth["duration_ns"] - truth["ideal_ns"]
        told, err = max([(f["time_lost_ns"], f["time_lost_err_ns"] or 0) for f in report["findings"]
                         if f["kind"] in STRAGGLERS and f["time_lost_ns"]], default=(0, 0))
        if theirs <= ours and loss:
            out["told_to_true"] = told / loss
            out["within_error"] = float(abs(told - loss) <= err)
    return out


def whatif(report, truth):
    out = stragglers(report, truth)
    if "told_to_true" in out:
        out["off_pct"] = 100 * abs(out["told_to_true"] - 1)
    return out


def offset_at(knots, t):
    for (t0, o0), (t1, o1) in zip(knots, knots[1:]):
        if t <= t1:
            return o0 + (o1 - o0) * (t - t0) / (t1 - t0)
    return knots[-1][1]


def clocks(report, truth):
    knots = {c["host"]: c["knots"] for c in truth["clocks"]}
    middle = truth["duration_ns"] / 2
    worst, covered, n = 0.0, 0, 0
    for c in report["clocks"]:
        if c["host"] == c["ref_host"]:
            continue
        n += 1
        if c["offset_ns"] is None or c["err_ns"] is None:
            worst = float("inf")
            continue
        true = offset_at(knots[c["ref_host"]], middle) - offset_at(knots[c["host"]], middle)
        error = abs(c["offset_ns"] - true)
        worst = max(worst, error / 1e3)
        covered += error <= c["err_ns"]
    return {"max_us": worst if n else float("inf"), "covered": covered / n if n else 0.0}


def steps(report, truth):
    count = report["steps"]["count"]
    return {"exact": float(count is not None and abs(count - truth["steps"]) <= 1)}


def finds(kind):
    def check(report, truth):
        mine = [f for f in report["findings"] if f["kind"] == kind]
        others = [f for f in report["findings"] if f["kind"] != kind and f["kind"] not in ASIDE]
        return {"found": float(bool(mine)), "blamed_else": float(any(f["kind"] in STRAGGLERS for f in others))}
    return check


def nobody_alone(report, truth):
    """Ranks are late by turns: that is said, and held against none of them."""
    return {"blamed": float(any(f["kind"] in ACCUSING for f in report["findings"])),
            "fine": float(report["verdict"]["code"] in FINE)}


def hidden_pause(report, truth):
    """A pause that a pipeline's bubble partly hides: its rank, or that ranks wait."""
    touched = {r for f in truth["faults"] for r in f["ranks"]}
    wrong = any(set(f["ranks"]) - touched for f in report["findings"] if f["kind"] in ACCUSING)
    return {"blamed_else": float(wrong), "fine": float(report["verdict"]["code"] in FINE)}


def contradictions(report):
    """What is said of a run has to agree: how often it does not."""
    accused = [f for f in report["findings"] if f["kind"] in ACCUSING]
    ranks = [r for f in accused for r in f["ranks"] if f["kind"] != "SLOW_STAGE"]
    turns = {r for f in report["findings"] if f["kind"] == "ROTATING_STALLS" for r in f["ranks"]}
    code = report["verdict"]["code"]
    return float(bool(accused) and code in FINE) + float(code == "STRAGGLER" and not accused) + float(len(ranks) > len(set(ranks))) \
        + float(any(f["confidence"] != "low" for f in accused) and code == "NOT_ENOUGH_EVIDENCE") \
        + float(bool(turns & set(ranks)))


def slow_link(report, truth):
    mine = [f for f in report["findings"] if f["kind"] == "SLOW_LINK"]
    fault = next(f for f in truth["faults"] if f["kind"] == "slow-link")
    identifiable = any(l.get("identifiable") for l in truth["links"] if set(fault["ranks"]) >= {l["src"], l["dst"]})
    hit = any(set(fault["ranks"]) & set(f["ranks"]) for f in mine)
    ambiguous = any(l["ambiguous"] for l in report["links"] if l["slow"])
    out = {"blamed_else": float(any(f["kind"] in STRAGGLERS for f in report["findings"]))}
    out["found" if identifiable else "ambiguous"] = float(hit if identifiable else ambiguous or hit)
    return out


def healthy(report, truth):
    return {"findings": float(len([f for f in report["findings"] if f["kind"] not in ASIDE]))}


def exposed(report, truth):
    told, beyond = 0, 0
    for r in report["ranks"]:
        true = truth["exposed_ns_per_rank"][r["rank"]]
        if r["exposed_ns"] is not None:
            told += 1
            beyond += abs(r["exposed_ns"] - true) > r["exposed_err_ns"]
    return {"told": told / len(report["ranks"]), "beyond": float(beyond)}


def unnamed(report, truth):
    return {"named": float(bool(named(report)))}


def untimed(report, truth):
    silent = all(r["wait_ns"] is None and r["lateness_ns"] is None and r["exposed_ns"] is None for r in report["ranks"])
    return {"silent": float(silent and report["verdict"]["code"] == "NOT_ENOUGH_EVIDENCE")}


# ---- rows: (name, options of the generator, check, {figure: (how it is summed up, limit)}) ----

MEAN, WORST, MEDIAN, SUM = "mean", "worst", "median", "sum"
CLEAN = {"false_flags": (SUM, "0")}
FOUND = {"recall": (MEAN, ">=1"), "false_flags": (SUM, "0"), "told_to_true": (MEDIAN, "0.9..1.2")}
NOISY = {"recall": (MEAN, ">=0.95"), "false_flags": (SUM, "1"), "told_to_true": (MEDIAN, "0.9..1.2")}
REPLAYED = {"recall": (MEAN, ">=1"), "false_flags": (SUM, "0"), "off_pct": (MEDIAN, "5")}
TOGETHER = {**REPLAYED, "within_error": (MEAN, ">=0.9")}
ALIGNED = {"max_us": (WORST, "15"), "covered": (MEAN, ">=0.95")}
ALIGNED_WIDE = {"max_us": (WORST, "40"), "covered": (MEAN, ">=0.95")}
COVERED = {"covered": (MEAN, ">=0.95")}

ROWS = [
    ("stragglers.null", WIDE, stragglers, CLEAN),
    ("stragglers.null_hiccups", WIDE + " --hiccup 0.01:20", stragglers, {"false_flags": (SUM, "1")}),
    ("stragglers.one_rank", WIDE + " --fault slow-rank:rank=13,pct=5", stragglers, FOUND),
    ("stragglers.half_the_run", WIDE + " --fault slow-rank:rank=13,pct=5,from=100", stragglers, FOUND),
    ("stragglers.quarter", WIDE + " --fault slow-rank:rank=13,pct=10,from=75,to=125", stragglers, FOUND),
    ("stragglers.two_ranks", WIDE + " --fault slow-rank:rank=13,pct=5 --fault slow-rank:rank=40,pct=5", stragglers, FOUND),
    ("stragglers.host", WIDE + " --fault slow-host:host=2,pct=5", stragglers, FOUND),
    ("stragglers.noisy", WIDE + " --hiccup 0.01:20 --fault slow-rank:rank=13,pct=5", stragglers, NOISY),
    ("stragglers.starved", WIDE + " --fault starve-sm:rank=13,ms=30", stragglers, CLEAN),
    ("clocks.8x8", WIDE + " " + CLOCKS, clocks, ALIGNED),
    ("clocks.8x8_straggler", WIDE + " " + CLOCKS + " --fault slow-host:host=3,pct=10", clocks, ALIGNED),
    ("clocks.8x8_wander", WIDE + " " + CLOCKS + " --clock-wander-ppb 10", clocks, ALIGNED),
    ("clocks.64x1", "--hosts 64 --gpus-per-host 1 --workload ddp --steps 200 --step-ms 300 " + CLOCKS, clocks, ALIGNED_WIDE),
    ("clocks.8x8_skewed", WIDE + " " + CLOCKS + " --end-skew-us 100", clocks, COVERED),
    ("whatif.tp_dp", SMALL + " --hosts 2 --gpus-per-host 8 --workload megatron --tp 8 --pp 1 --dp 2 --steps 60 --step-ms 100"
     " --fault slow-rank:rank=5,pct=10", whatif, REPLAYED),
    ("whatif.pp_dp", SMALL + " --hosts 2 --gpus-per-host 8 --workload megatron --tp 1 --pp 4 --dp 4 --steps 60 --step-ms 100"
     " --fault slow-rank:rank=5,pct=10", whatif, REPLAYED),
    ("whatif.two_in_one_group", SMALL + " --hosts 2 --gpus-per-host 8 --workload megatron --tp 8 --pp 1 --dp 2 --steps 60"
     " --step-ms 100 --fault slow-rank:rank=2,pct=10 --fault slow-rank:rank=5,pct=10", whatif, REPLAYED),
    # one bad node that is a whole tensor group
    ("node.tp8_dp8", NODE + " --tp 8 --pp 1 --dp 8 --hosts 8 --steps 30 --fault slow-host:host=1,pct=15", whatif, TOGETHER),
    ("node.tp8_pp2_dp8", NODE + " --tp 8 --pp 2 --dp 8 --hosts 16 --steps 30 --fault slow-host:host=5,pct=15", whatif, TOGETHER),
    ("node.tp8_pp2_dp4", NODE + " --tp 8 --pp 2 --dp 4 --hosts 8 --steps 30 --fault slow-host:host=1,pct=15", whatif, TOGETHER),
    ("node.tp4_pp2_dp4", NODE + " --tp 4 --pp 2 --dp 4 --hosts 8 --gpus-per-host 4 --steps 30 --fault slow-host:host=1,pct=15",
     whatif, TOGETHER),
    # and one that is half of a stage
    ("node.half_of_a_stage", NODE + " --tp 2 --pp 2 --dp 4 --hosts 4 --gpus-per-host 4 --steps 60 --fault slow-host:host=2,pct=8",
     whatif, TOGETHER),
    # buckets behind one another: only those of the slow rank do not queue up
    ("whatif.buckets", NODE.replace("megatron", "ddp") + " --hosts 2 --gpus-per-host 4 --steps 60 --fault slow-rank:rank=5,pct=10", whatif, TOGETHER),
    # it is longer before the first bucket only: no pace at which the others, whose buckets queue up, would have been ready
    ("whatif.buckets_at_first", NODE.replace("megatron", "ddp") + " --hosts 2 --gpus-per-host 4 --steps 60 --step-ms 25"
     " --fault slow-rank:rank=5,ms=8", whatif, TOGETHER),
    ("whatif.part_of_run", NODE + " --hosts 4 --gpus-per-host 4 --steps 60 --fault slow-rank:rank=5,pct=20,from=20,to=39", whatif, TOGETHER),
    # each alone costs nothing, since the other one is as late
    ("whatif.two_in_two_groups", NODE + " --tp 2 --pp 2 --dp 4 --hosts 4 --gpus-per-host 4 --steps 60"
     " --fault slow-rank:rank=5,pct=10 --fault slow-rank:rank=6,pct=10", whatif, TOGETHER),
    # a first stage of four that is slow in its tensor group and hardly costs anything
    ("whatif.covered", NODE + " --tp 2 --pp 4 --dp 4 --hosts 4 --gpus-per-host 8 --steps 30 --fault slow-rank:rank=5,pct=10",
     unnamed, {"named": (SUM, "0")}),
    # the others' buckets queue up behind the slow ones
    ("whatif.ddp_host", "--workload ddp --hosts 4 --gpus-per-host 4 --steps 40 --noise-pct 2 --fault slow-host:host=2,pct=20",
     whatif, TOGETHER),
    ("steps.ddp", SMALL + " --hosts 1 --gpus-per-host 8 --workload ddp --steps 60 --step-ms 50", steps, {"exact": (MEAN, ">=1")}),
    ("steps.megatron", SMALL + " --hosts 1 --gpus-per-host 8 --workload megatron --tp 2 --pp 2 --dp 2 --steps 60 --step-ms 50",
     steps, {"exact": (MEAN, ">=1")}),
    # exchanges with a varying number of messages between three all-reduces that overlap them: not always distinguished from a layer
    ("steps.moe", SMALL + " --hosts 1 --gpus-per-host 8 --workload moe --steps 60 --step-ms 50", steps, {"exact": (MEAN, ">=0.7")}),
    ("rotating", SMALL + " --hosts 2 --gpus-per-host 8 --workload ddp --steps 300 --step-ms 100 --fault rotating:every=40,ms=300",
     finds("ROTATING_STALLS"), {"found": (MEAN, ">=1"), "blamed_else": (SUM, "0")}),
    # so few steps that one rank has more of them than others by chance
    ("rotating.tensor", "--hosts 2 --gpus-per-host 4 --workload megatron --tp 2 --pp 1 --dp 4 --steps 50 --step-ms 50 --noise-pct 1"
     " --fault rotating:every=5,ms=100", nobody_alone, {"blamed": (SUM, "0"), "fine": (SUM, "0")}),
    ("rotating.ddp", "--hosts 1 --gpus-per-host 4 --workload ddp --steps 50 --step-ms 50 --noise-pct 1 --fault rotating:every=3,ms=40",
     nobody_alone, {"blamed": (SUM, "0"), "fine": (SUM, "0")}),
    ("slow_link", SMALL + " --hosts 4 --gpus-per-host 4 --workload megatron --tp 4 --pp 2 --dp 2 --steps 60 --step-ms 50"
     " --fault slow-link:src=0,dst=8,factor=0.4", slow_link,
     {"found": (MEAN, ">=0.95"), "blamed_else": (SUM, "0")}),
    # within a tensor group of four many pairs share their rings: reported as one of several
    ("slow_link.ambiguous", SMALL + " --hosts 2 --gpus-per-host 8 --workload megatron --tp 4 --pp 2 --dp 2 --steps 30"
     " --fault slow-link:src=0,dst=1,factor=0.5", slow_link, {"ambiguous": (MEAN, ">=0.95"), "blamed_else": (SUM, "0")}),
    ("host_timing", SMALL + " --hosts 1 --gpus-per-host 8 --workload ddp --steps 40 --step-ms 20 --timing host", untimed,
     {"silent": (MEAN, ">=1")}),
    # stages that no one else is: who computes longer may just have more to do
    ("pipeline.alone", SMALL + " --hosts 1 --gpus-per-host 4 --workload megatron --tp 1 --pp 4 --dp 1 --steps 60 --step-ms 50",
     unnamed, {"named": (SUM, "0")}),
    ("pipeline.paused", "--hosts 1 --gpus-per-host 8 --workload megatron --tp 1 --pp 8 --dp 1 --steps 50 --step-ms 50 --noise-pct 1"
     " --fault pause:rank=2,every=7,ms=40", hidden_pause, {"blamed_else": (SUM, "0"), "fine": (SUM, "0")}),
    # a stage of two: one way to mend it gains a third, the other one too much
    ("whatif.pair", "--hosts 1 --gpus-per-host 8 --workload megatron --tp 1 --pp 4 --dp 2 --steps 50 --step-ms 50 --noise-pct 1"
     " --fault late-host:rank=1,ms=10", whatif, {"recall": (MEAN, ">=1"), "false_flags": (SUM, "0"), "within_error": (MEAN, ">=0.9")}),
    ("pipeline.4x4", SMALL + " --hosts 4 --gpus-per-host 4 --workload megatron --tp 4 --pp 2 --dp 2 --steps 60 --step-ms 50",
     healthy, {"findings": (SUM, "0")}),
    # long runs, of which a part is looked at one by one
    ("sampled.one_rank", SMALL + " --hosts 1 --gpus-per-host 4 --workload ddp --steps 6000 --fault slow-rank:rank=2,pct=5", whatif, REPLAYED),
    ("sampled.stages", SMALL + " --hosts 1 --gpus-per-host 8 --workload megatron --tp 2 --pp 2 --dp 2 --steps 1500"
     " --fault slow-rank:rank=5,pct=10", whatif, REPLAYED),
    ("sampled.stalls", SMALL + " --hosts 1 --gpus-per-host 4 --workload ddp --steps 6000 --fault pause:rank=2,every=100,ms=200",
     finds("PERIODIC_STALLS"), {"found": (MEAN, ">=1"), "blamed_else": (SUM, "0")}),
    # what times reported by NCCL do not show is not reported
    ("exposed.fsdp", UNEVEN + " --workload fsdp", exposed, {"told": (MEAN, ">=1"), "beyond": (SUM, "0")}),
    ("exposed.megatron", UNEVEN + " --workload megatron", exposed, {"told": (MEAN, ">=1"), "beyond": (SUM, "0")}),
    ("exposed.plugin_fsdp", UNEVEN + " --workload fsdp --timing plugin", exposed, {"beyond": (SUM, "0")}),
    ("exposed.plugin_megatron", UNEVEN + " --workload megatron --timing plugin", exposed, {"beyond": (SUM, "0")}),
    ("exposed.plugin_decode", UNEVEN + " --workload decode --timing plugin", exposed, {"told": (MEAN, ">=1"), "beyond": (SUM, "0")}),
] + [
    ("healthy." + w, SMALL + " --hosts 2 --gpus-per-host 8 --workload " + w + " --steps 60 --step-ms 50", healthy,
     {"findings": (SUM, "0")})
    for w in ("ddp", "megatron", "fsdp", "moe", "decode")
]


def call(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.decode(errors='replace')[-400:]}")
    return done.stdout


def play(where, name, options, check, seed, imported):
    """One run of a row: what its report says, held against its truth."""
    run = tempfile.mkdtemp(prefix="ct-accuracy-")
    try:
        trace, truth = f"{run}/run", f"{run}/truth.json"
        call(f"{where}/commtrace-synth", "-o", trace, "--truth", truth, "--seed", str(seed), *options.split())
        if imported:
            with open(f"{run}/run.jsonl", "wb") as lines:
                lines.write(call(f"{where}/commtrace", "dump", "--format=jsonl", trace))
            trace = f"{run}/imported"
            call(f"{where}/commtrace", "import", "jsonl", f"{run}/run.jsonl", "-o", trace)
        report = json.loads(call(f"{where}/commtrace", "report", "--format=json", trace))
        with open(truth, encoding="utf-8") as file:
            return name, seed, {**check(report, json.load(file)), "contradictions": contradictions(report)}
    finally:
        shutil.rmtree(run, ignore_errors=True)


def sum_up(values, how):
    return {MEAN: statistics.fmean, WORST: max, MEDIAN: statistics.median, SUM: sum}[how](values)


def limits(limit):
    """A band is two gates: (suffix of the name, limit)."""
    if ".." not in limit:
        return [("", limit)]
    low, high = limit.split("..")
    return [("", ">=" + low), ("_at_most", high)]


def passes(value, limit):
    return value >= float(limit[2:]) if limit.startswith(">=") else value <= float(limit)


def tell(name, figures, results, table):
    """Print a row; how many of its figures are beyond their limits."""
    beyond, parts = 0, []
    for figure, (how, limit) in {**figures, "contradictions": (SUM, "0")}.items():
        values = [r[figure] for r in results if figure in r]
        if not values and figure in ("found", "ambiguous"):
            continue  # each seed shows one or the other
        value = sum_up(values, how) if values else float("nan")
        parts.append(f"{figure} {value:.4g} ({how} of {len(values)})")
        for suffix, one in limits(limit):
            beyond += not passes(value, one)
            if not table:
                shown = f"{value:.4g}" if abs(value) < float("inf") else "none"
                print(f"METRIC accuracy.{name}.{figure}{suffix} {shown} {one}", flush=True)
    if table:
        print(f"{name:32} {'; '.join(parts)}", flush=True)
    return beyond


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=25)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--rows", default="")
    parser.add_argument("--bin", default=os.path.join(os.path.dirname(__file__), "../../build/bin"))
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--imported", action="store_true", help="dump each run as lines, import these, and judge that")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    failed = beyond = 0
    rows = [row for row in ROWS if re.search(args.rows, row[0])]
    if not rows:
        parser.error(f"no row matches {args.rows}")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, options, check, figures in rows:
            jobs = [pool.submit(play, args.bin, name, options, check, args.first + s, args.imported) for s in range(args.seeds)]
            results = []
            for job in jobs:
                try:
                    results.append(job.result()[2])
                except (RuntimeError, KeyError, ValueError, TypeError) as why:
                    print(f"{name}: {why!r}", file=sys.stderr)
                    failed += 1
            beyond += tell(("imported." if args.imported else "") + name, figures, results, args.table)
    return 1 if failed or (args.check and beyond) else 0


if __name__ == "__main__":
    sys.exit(main())
