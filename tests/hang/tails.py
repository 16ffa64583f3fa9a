#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the verdict from the tails of a run, and from its last segments, the one from everything?

    tails.py [--all] [--only REGEX] [--jobs N]

Made runs and simulated jobs with the faults and workloads of synthetic.py, long enough for heartbeats before the fault. Each is judged
by tails_run, with tails as short as can be, of files in several segments, of which the last ones are looked at first: the same codes,
ranks, victims, causes, states. Where they cannot do, all segments are looked at, or everything is read, so it is counted how often they did.
--all plays every fault in every workload; otherwise some.
Prints METRIC lines; exit 1 if a verdict differs, or tails were used in too few runs.
"""
import argparse
import concurrent.futures
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile

import jobs
import random_faults
import synthetic

LEAST = "24"  # operations of a process: the shortest tail in which something is behind what all have called
STEPS, STEP_MS = 40, 1000
RANKS = 8
WHEN = 0.75  # of the run, when the fault comes
SIM_STEPS, SIM_STEP_MS = 160, 100  # few and long: a recorder gives a heartbeat every 10 s, one before the fault
SOME = {(0, 0), (1, 1)}


def compare(run):
    """(what the verdict was made of, how it differs)."""
    done = subprocess.run([os.path.join(jobs.build_dir(), "tests", "hang", "tails_run"), run, LEAST, "3000"], capture_output=True, text=True)
    lines = done.stdout.split("\n")
    if done.returncode not in (0, 1):
        raise jobs.Failed(f"exit {done.returncode} {done.stderr.strip()[-200:]}")
    return lines[0], ", ".join(line for line in lines[1:] if line)


@functools.lru_cache(None)
def ops_of_healthy(options):
    """Operations of a rank."""
    dir_ = tempfile.mkdtemp(prefix="commtrace-hang.")
    try:
        return synthetic.make(dir_, list(options))["ops"] // RANKS
    finally:
        shutil.rmtree(dir_, ignore_errors=True)


def late_op(options):
    return int(WHEN * ops_of_healthy(tuple(options)))


def made(workload, fault, timing, hosts, more=()):
    dir_ = tempfile.mkdtemp(prefix="commtrace-hang.")
    try:
        options = ["--hosts", str(hosts), "--gpus-per-host", str(RANKS // hosts), "--steps", str(STEPS), "--step-ms", str(STEP_MS),
                   "--workload", workload, *synthetic.WORKLOADS[workload].split(), "--timing", timing, "--on-death", "wait", "--segment-kb", "1"]
        if fault:
            options += ["--fault", re.sub(r"op=\d+", f"op={late_op(options)}", fault), *more]
        if synthetic.make(dir_, options) is None:
            return None
        return compare(os.path.join(dir_, "run"))
    except jobs.Failed as e:
        return "failed", str(e)
    finally:
        shutil.rmtree(dir_, ignore_errors=True)


def simulated(workload, fault, timing):
    options = ["--workload", workload, *synthetic.WORKLOADS[workload].split(), "--steps", str(SIM_STEPS), "--step-ms", str(SIM_STEP_MS)]
    told = random_faults.where(["--ranks", str(RANKS), *options], [])
    fault = re.sub(r"op=\d+", f"op={int(WHEN * told['ops'][1])}", fault)
    if random_faults.where(["--ranks", str(RANKS), *options], [fault]) is None:
        return None
    try:
        with jobs.Job(RANKS, options, [fault], timing=timing, env={"COMMTRACE_FLUSH": "1s", "COMMTRACE_SEGMENT_BYTES": "64K"}) as job:
            job.until_stuck()
            job.kill("all")
            return compare(job.run)
    except jobs.Failed as e:
        return "failed", str(e)


def plan(args):
    out = []
    faults = ["", *synthetic.FAULTS]
    for i, fault in enumerate(faults):
        for k, workload in enumerate(synthetic.WORKLOADS):
            if args.all or k == i % len(synthetic.WORKLOADS):
                timing, hosts = ("events", "host", "off")[(i + k) % 3], 1 + (i + k) % 2
                out.append((f"made {workload:9} {timing:6} {hosts} {fault}", made, (workload, fault, timing, hosts)))
    # long before, a rank called something else, and no one noticed: no tail shows that
    out.append(("made ddp differs before", made, ("ddp", "missing:rank=1,op=20", "events", 1,
                                                  ("--fault", "mismatch:rank=2,op=20,field=count", "--on-mismatch", "go-on"))))
    for i, fault in enumerate(f for f in synthetic.FAULTS if "op=" in f):
        for k, workload in enumerate(("ddp", "megatron", "moe")):
            timing = ("events", "host")[(i + k) % 2]
            if args.all or (i, k) in SOME:
                out.append((f"simulated {workload:9} {timing:6} {fault}", simulated, (workload, fault, timing)))
    return [one for one in out if re.search(args.only, one[0])]


def play(one):
    name, do, of = one
    return name, do(*of)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    counts = {"last segments": 0, "tails": 0, "everything": 0, "differs": 0, "failed": 0}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, result in pool.map(play, plan(args)):
            if result is None:
                continue
            kind = "differs" if result[1] and result[0] != "failed" else result[0]
            counts[kind] += 1
            print(f"{kind:13} {name}  {result[1]}", flush=True)
    print(", ".join(f"{n} {kind}" for kind, n in counts.items()))
    share = (counts["tails"] + counts["last segments"]) / max(sum(counts.values()), 1)
    last = counts["last segments"] / max(sum(counts.values()), 1)
    print(f"METRIC hang.tails.differs {counts['differs'] + counts['failed']} 0")
    print(f"METRIC hang.tails.used {share:.3f} >=0.4")
    print(f"METRIC hang.tails.last_segments {last:.3f} >=0.2")
    return int(counts["differs"] + counts["failed"] > 0 or (not args.only and (share < 0.4 or last < 0.2)))


if __name__ == "__main__":
    sys.exit(main())
