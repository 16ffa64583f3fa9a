#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs of jobs that never ran, of any size, each with its truth (commtrace-synth): are hangs named as they should be?

    synthetic.py [--jobs N] [--only REGEX] [--all] [--big] [--damaged]

--all    every kind of fault in every workload it can happen in (otherwise one workload each)
--big    256 ranks, tensor x pipeline x data, one of them stuck: named, with 255 victims, in at most twice the time that it takes
         to decode the same files; and 1024 ranks
--damaged  every fault with one rank's files missing, with two ranks', and with one cut off: never a wrong accusation
Prints METRIC lines; exit 1 if one is beyond its limit.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import jobs
import judge

WORKLOADS = {"ddp": "", "fsdp": "", "moe": "", "decode": "", "megatron": "--tp 2 --pp 2 --dp 2"}
FAULTS = [
    "missing:rank=1,op=20", "skip:rank=1,op=20", "extra:rank=1,op=20", "mismatch:rank=1,op=20,field=op",
    "mismatch:rank=1,op=20,field=count", "mismatch:rank=1,op=20,field=root", "kill:rank=1,op=20",
    "kill:rank=1,op=20,signal=11", "exit:rank=1,op=20", "async-error:rank=1,op=20", "block-stream:rank=1,op=20", "order-inversion:ranks=0+1",
    "host-inversion:ranks=1+2", "unbatched-p2p:ranks=0+1", "transport-stall:rank=1,op=20", "never-ends:rank=1,op=20",
    "stray-split:rank=1,op=20", "skip-init:rank=1", "skip-send:rank=1,peer=3,op=20", "skip-send:rank=1,peer=5,op=4",
    "host-stall:rank=1,call=groupend,op=20", "host-stall:rank=1,call=init", "host-stall:rank=1,call=split",
]
HOST_SILENT = {"block-stream", "transport-stall", "never-ends", "order-inversion", "unbatched-p2p"}


def make(dir_, options):
    """The truth of a run that is made there; None: the fault cannot happen in this workload."""
    done = subprocess.run([jobs.program("commtrace-synth"), "-o", os.path.join(dir_, "run"), "--truth", os.path.join(dir_, "truth.json"),
                           *options], capture_output=True)
    if done.returncode:
        if b"would never happen" in done.stderr or b"would not happen" in done.stderr:
            return None
        raise jobs.Failed(done.stderr.decode().strip())
    with open(os.path.join(dir_, "truth.json")) as f:
        return json.load(f)


def wanted(truth, fault, timing):
    """The truth of the generator, with what counts as the same to who looks from outside (random_faults.py)."""
    hang = truth["expected"]["hang"]
    ranks = " ".join(map(str, hang["ranks"]))
    out = [f"{hang['code']} {ranks}"]
    kind = fault.split(":")[0]
    if kind in ("skip", "extra", "mismatch", "skip-send"):
        out += [f"{code} {ranks}" for code in ("MISMATCH_OP", "MISMATCH_COUNT", "MISMATCH_DTYPE", "MISMATCH_ROOT", "P2P_UNMATCHED",
                                              "NEVER_ENTERED")]
    if timing == "host" and kind in HOST_SILENT:
        out.append("-")
    # made runs have no rings: a file that ends early may have been cut as well
    if kind == "kill":
        out.append(f"NO_TRACE {ranks}")
    return " | ".join(dict.fromkeys(out))


def strike(fault, options):
    """Who shares the communicator of the fault's operation, with whom it is exchanged: (members, ends)."""
    sim = ["--ranks", "8", "--nodes", "2", "--steps", "6", *options]
    done = subprocess.run([jobs.program("commtrace-simjob"), "--where", "--scale", "1", *sim, "--fault", fault], capture_output=True)
    told = json.loads(done.stdout)["faults"][0] if done.returncode == 0 else {}
    rank = re.search(r"rank=(\d+)", fault)
    ends = {int(rank.group(1)), told["peer"]} if told.get("operation") in ("Send", "Recv") else set()
    return told.get("members", []), ends


def play(name, workload, fault, timing, damage):
    dir_ = tempfile.mkdtemp(prefix="commtrace-hang.")
    try:
        options = ["--hosts", "2", "--gpus-per-host", "4", "--steps", "6", "--workload", workload, *WORKLOADS[workload].split(),
                   "--timing", timing, "--fault", fault, "--on-death", "wait"]
        truth = make(dir_, options + [w for d in damage for w in ("--fault", d)])
        if truth is None or truth["expected"]["hang"] is None:
            return None
        text = wanted(truth, fault, timing)
        members, ends = strike(fault, ["--workload", workload, *WORKLOADS[workload].split()])
        # of two, and of the ends of a message, no one can show which one is wrong
        group = set(members) if len(members) == 2 else ends
        if group and fault.split(":")[0] in ("skip", "extra", "mismatch"):
            text += " | " + " | ".join(f"{code} {' '.join(map(str, sorted(group)))}" for code in (
                "MISMATCH_OP", "MISMATCH_COUNT", "MISMATCH_DTYPE", "MISMATCH_ROOT", "P2P_UNMATCHED", "P2P_CYCLE"))
        code, report, seconds, errors = jobs.hang(os.path.join(dir_, "run"))
        if judge.shape(code, report):
            return "wrong", f"{judge.shape(code, report)} {errors.strip()[-200:]}", text
        result = judge.judge(report, text)
        if damage and result == "wrong":
            lost = {int(m) for d in damage for m in re.findall(r"rank=(\d+)", d)}
            allowed = lost.union(*(r for a in judge.parse(text) for r in a.values()))
            if set().union(*judge.said_of(report).values()) <= allowed:
                result = "silent"
        return result, judge.show(report), text
    except jobs.Failed as e:
        return "failed", str(e), ""
    finally:
        shutil.rmtree(dir_, ignore_errors=True)


def table(args):
    plan = []
    damages = [[]]
    if args.damaged:
        damages = [["drop-trace:rank=1"], ["drop-trace:rank=2"], ["drop-trace:rank=0", "drop-trace:rank=3"], ["truncate:rank=1,keep=0.6"],
                   ["truncate:rank=4,keep=0.5"]]
    for fault in FAULTS:
        for workload in WORKLOADS:
            for timing in ("events", "host"):
                for damage in damages:
                    name = f"{workload:9} {timing:6} {fault:40} {' '.join(damage)}"
                    if re.search(args.only, name):
                        plan.append((name, workload, fault, timing, damage))
    if not args.all:
        # each fault in the first workload where it can happen, and not always the same one
        chosen = {}
        for i, one in enumerate(plan):
            chosen.setdefault((one[2], tuple(one[4])), []).append(one)
        plan = [ones[(k * 3 + j) % len(ones)] for k, ones in enumerate(chosen.values()) for j in (0, 4)]
    counts = {"right": 0, "wrong": 0, "silent": 0, "failed": 0}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for one, result in pool.map(lambda p: (p, play(*p)), plan):
            if result is None:
                continue
            counts[result[0]] += 1
            print(f"{result[0]:6} {one[0]}  {result[1]}{'' if result[0] == 'right' else f'; not {result[2][:60]}'}", flush=True)
    n = sum(counts.values())
    print(f"{n} runs: " + ", ".join(f"{v} {k}" for k, v in counts.items()))
    what = "damaged" if args.damaged else "synthetic"
    print(f"METRIC hang.{what}.wrong {counts['wrong'] + counts['failed']} 0")
    if not args.damaged:
        print(f"METRIC hang.{what}.right {counts['right'] / max(n, 1):.4f} >=0.95")
    return int(n == 0 or counts["wrong"] + counts["failed"] > 0 or (not args.damaged and counts["right"] < 0.95 * n))


def best_of(n, command):
    """(seconds of processor time, most memory in kB) of the quickest of n: what else the machine does is not in it."""
    least, memory = None, 0
    for _ in range(n):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            _, _, usage = os.wait4(child.pid, 0)
            child.returncode = 0
        seconds = usage.ru_utime + usage.ru_stime
        least = seconds if least is None else min(least, seconds)
        memory = max(memory, usage.ru_maxrss)
    return least, memory


def big(ranks, tp, pp, dp, culprit, op):
    dir_ = tempfile.mkdtemp(prefix="commtrace-hang.")
    try:
        run = os.path.join(dir_, "run")
        truth = make(dir_, ["--hosts", str(ranks // 8), "--gpus-per-host", "8", "--steps", "10", "--workload", "megatron", "--tp", str(tp),
                            "--pp", str(pp), "--dp", str(dp), "--fault", f"missing:rank={culprit},op={op}"])
        code, report, _, errors = jobs.hang(run)
        result = judge.judge(report, wanted(truth, "missing:", "events")) if report else f"exit {code} {errors}"
        victims = report["verdicts"][0]["victims_count"] if report and report["verdicts"] else 0
        own, memory = best_of(3, [jobs.program("commtrace"), "hang", "--whole", run])
        decode, _ = best_of(3, [os.path.join(jobs.build_dir(), "tests", "hang", "decode_run"), run])
        print(f"{ranks} ranks, {truth['ops']} operations: {result}, {victims} victims; {own:.2f} s, decoding alone {decode:.2f} s, "
              f"{memory / 1024:.0f} MiB; {judge.show(report) if report else ''}")
        print(f"METRIC hang.ranks{ranks}.right {int(result == 'right')} >=1")
        print(f"METRIC hang.ranks{ranks}.victims {victims} >={ranks - 1}")
        print(f"METRIC hang.ranks{ranks}.to_decoding {own / decode:.3f} 2")
        return int(result != "right" or victims != ranks - 1)
    finally:
        shutil.rmtree(dir_, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--big", action="store_true")
    parser.add_argument("--damaged", action="store_true")
    args = parser.parse_args()
    if args.big:
        return big(256, 8, 4, 8, 77, 500) | big(1024, 8, 8, 16, 777, 500)
    return table(args)


if __name__ == "__main__":
    sys.exit(main())
