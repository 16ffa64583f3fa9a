#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults drawn by a seed, kinds x workloads x ranks x operations x timing x ways to be killed: how many are named rightly.

    random_faults.py [--count N] [--seed N] [--jobs N] [--only INDEX]

right: the code and the ranks that were planted. wrong: anything else that accuses. silent: not enough evidence.
What is the same to every rank who looks from outside counts as right:
  - a rank that leaves an operation out or puts one in differs from there on, so it may be reported as that difference, or, where
    everything else looks the same, as the one that is missing in the end;
  - a message that becomes one the other way round makes the next ones meet others than they were meant for;
  - of two, no one can show which one is wrong: then both are named; and of messages, both ends;
  - where nothing was timed on the GPU, what only starts can show is not known.
Prints METRIC lines: right >= 0.95, wrong 0, silent <= 0.05.
"""
import argparse
import concurrent.futures
import json
import random
import subprocess
import sys
import time

import jobs
import judge

WORKLOADS = {
    "ddp": ["", 8], "fsdp": ["", 8], "moe": ["", 8], "decode": ["", 8],
    "megatron": ["--tp 2 --pp 2 --dp 2", 8], "megatron pipe": ["--tp 1 --pp 4 --dp 1", 4], "megatron tensor": ["--tp 4 --pp 1 --dp 2", 8],
    "ddp small": ["", 4],
}
KINDS = ["missing"] * 3 + ["skip"] * 2 + ["extra"] * 2 + ["mismatch"] * 3 + ["kill"] * 3 + ["exit"] * 2 + [
    "block-stream", "order-inversion", "host-inversion", "unbatched-p2p", "async-error", "transport-stall", "never-ends", "stray-split",
    "skip-init", "skip-send", "host-stall", "host-stall"]
DIFFERENCES = ["MISMATCH_OP", "MISMATCH_COUNT", "MISMATCH_DTYPE", "MISMATCH_REDOP", "MISMATCH_ROOT"]
SEEN_WITH_STARTS = {"block-stream", "transport-stall", "never-ends", "order-inversion", "unbatched-p2p"}


def where(options, faults):
    """What the job itself says of its faults; None if one would never happen."""
    done = subprocess.run([jobs.program("commtrace-simjob"), "--where", *options, *[w for f in faults for w in ("--fault", f)]],
                          capture_output=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def alternatives(codes, ranks):
    return " | ".join(f"{code} {' '.join(map(str, sorted(ranks)))}" for code in codes)


def truth_of(kind, rank, strike, detail):
    """In the notation of judge.py."""
    members = strike.get("members") or []
    is_message = strike.get("operation") in ("Send", "Recv")
    pair = {rank, strike["peer"]} if is_message else set()
    # of a message to itself NCCL misses the other half at once, and the job ends over that
    refused = f" | DEAD_RANK {rank}" if is_message and strike["peer"] == rank else ""
    both = set(members) if len(members) == 2 else set()

    if kind == "mismatch":
        if is_message:
            return alternatives(["MISMATCH_OP", "MISMATCH_COUNT", "P2P_UNMATCHED", "P2P_CYCLE"] if detail == "op" else
                                [f"MISMATCH_{detail.upper()}"], pair)
        return alternatives([f"MISMATCH_{detail.upper()}"], both or {rank})
    if kind in ("skip", "extra"):
        own = "SKIPPED_OP" if kind == "skip" else "EXTRA_OP"
        if is_message:
            return alternatives(["P2P_UNMATCHED", "MISMATCH_COUNT", own], pair) + " | " + alternatives([own, "NEVER_ENTERED"], {rank}) + refused
        text = alternatives([own, "NEVER_ENTERED"] + DIFFERENCES, {rank})
        return text + (" | " + alternatives(DIFFERENCES, both) if both else "")
    if kind == "skip-send":
        return alternatives(["P2P_UNMATCHED", "MISMATCH_COUNT"], {rank, strike["peer"]})
    if kind in ("transport-stall", "stray-split"):
        text = alternatives(["TRANSPORT_STALL"], pair or members) if kind == "transport-stall" else alternatives(["HOST_ORDER_DEADLOCK"], members)
        # the others need not wait for this rank's part of a broadcast, which ends early on them
        early = kind == "transport-stall" and strike["operation"] in ("Broadcast", "Reduce", "Send", "Recv")
        return text + (" | " + alternatives(["PARTIAL_COMPLETE"], {rank}) if early else "")
    if kind == "host-stall":
        if detail != "groupend":
            return alternatives(["HOST_CALL_STALL"], members)
        return alternatives(["HOST_BLOCKED_CALL", "INSIDE_LIBRARY"], {rank})
    if kind == "exit":
        return alternatives(["EXITED_RANK"] + (["DEAD_RANK"] if detail else []), {rank})
    if kind == "skip-init":
        return alternatives(["NEVER_ENTERED", "NO_TRACE"], {rank})
    return alternatives([{"missing": "NEVER_ENTERED", "kill": "DEAD_RANK", "block-stream": "STREAM_BLOCKED", "async-error": "ASYNC_ERROR",
                          "never-ends": "PARTIAL_COMPLETE", "order-inversion": "ORDER_DEADLOCK", "host-inversion": "HOST_ORDER_DEADLOCK",
                          "unbatched-p2p": "P2P_CYCLE"}[kind]], rank if isinstance(rank, set) else {rank})


def draw(rng):
    """One job: everything about it, and its truth. None: it cannot be."""
    name = rng.choice(list(WORKLOADS))
    extra, n = WORKLOADS[name]
    kind = rng.choice(KINDS)
    steps = 3 if kind == "host-stall" else rng.choice([20, 40])
    options = ["--ranks", str(n), "--workload", name.split()[0], "--steps", str(steps), "--step-ms", str(rng.choice([2, 5, 10])),
               "--seed", str(rng.randrange(1 << 30)), *extra.split()]
    ops = where(options, [])["ops"]
    rank, detail = rng.randrange(n), None
    op = rng.randrange(ops[rank] // 10, ops[rank] * 2 // 3)
    # of two that leave each other waiting, no third is part of it
    a, b = rng.sample(range(n), 2)
    fault = f"{kind}:rank={rank},op={op}"
    on_death = "wait"
    if kind == "mismatch":
        detail = rng.choice(["op", "count", "dtype", "redop"])
        fault += f",field={detail}"
    elif kind == "kill":
        detail = rng.choice([9, 11, 6])
        on_death = "wait" if detail == 9 else rng.choice(["wait", "kill"])
        fault += f",signal={detail}"
    elif kind == "exit":
        detail = rng.choice([0, 0, 1])
        on_death = rng.choice(["wait", "kill"]) if detail else "wait"
        fault += f",code={detail}"
    elif kind in ("order-inversion", "host-inversion", "unbatched-p2p"):
        fault, rank = f"{kind}:ranks={a}+{b}", {a, b}
    elif kind == "skip-init":
        rank = rank or 1  # without rank 0 there is no unique id, and no one calls anything
        fault = f"{kind}:rank={rank}"
    elif kind == "skip-send":
        fault = f"{kind}:rank={rank},peer={(rank + rng.choice([1, n - 1, n // 2])) % n},op={op}"
    elif kind == "host-stall":
        detail = rng.choice(["groupend", "init", "split", "finalize"])
        fault = f"{kind}:rank={rank},call={detail}" + (f",op={op}" if detail == "groupend" else "")
    told = where(options, [fault])
    if not told:
        return None
    strike = told["faults"][0]
    # the same bytes as another type: a message then arrives, and nothing hangs
    if detail == "dtype" and strike.get("operation") in ("Send", "Recv"):
        return None
    timing = rng.choice(["events", "host"])
    truth = truth_of(kind, rank, strike, detail)
    if timing == "host" and kind in SEEN_WITH_STARTS:
        truth += " | -"
    # a message that stalls keeps its ends, and whoever has others in one launch with it
    keeps = kind == "transport-stall" and strike["operation"] in ("Send", "Recv") and ({rank, strike["peer"]}, set(strike["members"]))
    return {"n": n, "keeps": keeps, "options": options[2:], "fault": fault, "timing": timing, "truth": truth, "on_death": on_death,
            "how": rng.choice(["all", "launcher", "staggered", "kills"]), "name": name}


def drawn(seed, count):
    rng = random.Random(seed)
    out = []
    while len(out) < count:
        one = draw(rng)
        if one:
            out.append(one | {"index": len(out)})
    return out


def play(one):
    begin = time.monotonic()
    try:
        with jobs.Job(one["n"], one["options"], [one["fault"]], timing=one["timing"], on_death=one["on_death"]) as job:
            job.until_stuck()
            if not job.is_over():
                job.kill(one["how"], random.Random(one["index"]))
            elif one["on_death"] != "kill":
                raise jobs.Failed(f"it has ended by itself: {job.errors()}")
            code, report, _, errors = job.hang()
        if judge.shape(code, report):
            return "wrong", f"{judge.shape(code, report)} {errors.strip()[-200:]}", time.monotonic() - begin
        result = judge.judge(report, one["truth"])
        named = judge.said_of(report)
        if one["keeps"] and list(named) == ["TRANSPORT_STALL"] and one["keeps"][0] <= named["TRANSPORT_STALL"] <= one["keeps"][1]:
            result = "right"
        return result, judge.show(report), time.monotonic() - begin
    except jobs.Failed as e:
        return "failed", str(e), time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--only", type=int)
    args = parser.parse_args()
    plan = [p for p in drawn(args.seed, args.count) if args.only in (None, p["index"])]
    counts = {"right": 0, "wrong": 0, "silent": 0, "failed": 0}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for one, (result, words, seconds) in pool.map(lambda p: (p, play(p)), plan):
            counts[result] += 1
            said = words if result == "right" else f"{words}; not {one['truth']}"
            print(f"{result:6} {one['index']:3} {one['name']:15} {one['fault']:40} {one['timing']:6} {one['how']:9} {one['on_death']} "
                  f"{seconds:5.1f}s  {said}", flush=True)
            if result not in ("right",):
                print(f"       commtrace-simjob --ranks {one['n']} {' '.join(one['options'])} --fault {one['fault']}", flush=True)
    n = len(plan)
    print(f"{n} faults: " + ", ".join(f"{v} {k}" for k, v in counts.items()))
    print(f"METRIC hang.random.right {counts['right'] / n:.4f} >=0.95")
    print(f"METRIC hang.random.wrong {counts['wrong'] + counts['failed']} 0")
    print(f"METRIC hang.random.silent {counts['silent'] / n:.4f} 0.05")
    # of few, one may be silent
    return int(counts["wrong"] + counts["failed"] > 0 or counts["silent"] > max(1, 0.05 * n))


if __name__ == "__main__":
    sys.exit(main())
