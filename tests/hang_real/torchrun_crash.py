#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torchrun_crash.py [--rounds N] [--ranks N] [--seed N] — one rank of a job under the real torchrun fails by itself.

Gloo shows the others, so that most of them end by an exception within milliseconds, and torchrun, which looks every
--monitor_interval (5 s by default), ends the rest: several ranks have failed, one of them by itself. `commtrace hang` has to name
that one and how it ended. The truth is what was planted, and that crash_job.py did end so."""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import judge

HERE = Path(__file__).resolve().parent
# What is said of the end, whichever words are around it.
ENDS = {"segfault": "signal 11", "oom": "signal 9", "abort": "signal 6", "bus": "signal 7", "sys.exit": "exit status 1",
        "exception": "exit status 1", "os._exit": "exit status 3"}
PHASES = ["start", "step", "backward", "collective", "subgroup", "end"]


def free_port():
    return subprocess.run([sys.executable, judge.ROOT / "tools" / "free_port.py"], capture_output=True, text=True,
                          check=True).stdout.strip()


def draw(number, options):
    """What fails in a round: (rank, phase, way, step, interval)."""
    chance = random.Random(options.seed * 1000 + number)
    while True:
        way, phase = chance.choice(list(ENDS)), chance.choice(PHASES)
        if phase != "collective" or way not in ("sys.exit", "exception"):
            break
    return chance.randrange(options.ranks), phase, way, chance.randrange(4), chance.choice([0.1, 0.5, 5])


def launch(number, options, work):
    """Runs a round to its end. Returns its run."""
    rank, phase, way, step, interval = draw(number, options)
    folder = work / f"round-{number}"
    folder.mkdir()
    environment = judge.clean_environment(
        LD_PRELOAD=str(judge.LIBRARY), COMMTRACE_DIR=str(folder / "run"), COMMTRACE_RING_DIR=options.rings,
        COMMTRACE_QUIET="1", COMMTRACE_BUDGET="off", OMP_NUM_THREADS="1")
    with open(folder / "out", "w") as out:
        ended = subprocess.run(
            [sys.executable, "-m", "torch.distributed.run", "-r", "1", "-t", "1", "--log_dir", folder / "log",
             "--nproc_per_node", str(options.ranks), "--master_addr", "127.0.0.1", "--master_port", free_port(),
             "--monitor_interval", str(interval), HERE / "crash_job.py", "--rank", str(rank), "--phase", phase, "--way", way,
             "--step", str(step)],
            env=environment, stdout=out, stderr=out, timeout=2 * judge.PATIENCE_S, check=False)
    assert ended.returncode == 1, f"torchrun: exit {ended.returncode}: {(folder / 'out').read_text()[-2000:]}"
    return folder


def play(number, options, work):
    """A round: right, weak or wrong."""
    rank, phase, way, step, interval = draw(number, options)
    what = f"rank {rank} {way} in {phase} {step}, torchrun looks every {interval} s"
    try:
        folder = launch(number, options, work)
        answer = judge.ask(folder / "run", rings=options.rings)
        verdict, why = judge.judge(answer, [[("DEAD_RANK", [rank])], [("EXITED_RANK", [rank])]], [ENDS[way]])
    except AssertionError as error:
        answer, verdict, why = None, "wrong", str(error)
    print(f"{verdict:6}round {number}: {what}: {answer} {why}", flush=True)
    if verdict == "right" and not os.environ.get("CT_KEEP"):
        shutil.rmtree(folder)
    return verdict


def main():
    judge.with_torch()
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the number of the first round (0)")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("CT_SEED", time.time_ns() % 1000000)))
    parser.add_argument("--at-a-time", type=int, default=2)
    options = parser.parse_args()
    print("seed", options.seed, flush=True)
    work = Path(tempfile.mkdtemp(prefix="commtrace-crash."))
    options.rings = tempfile.mkdtemp(prefix="commtrace-crash.", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    try:
        with ThreadPoolExecutor(options.at_a_time) as pool:
            numbers = range(options.first, options.first + options.rounds)
            verdicts = list(pool.map(lambda number: play(number, options, work), numbers))
    finally:
        if os.environ.get("CT_KEEP"):
            print("kept:", work, options.rings)
        else:
            shutil.rmtree(work)
            shutil.rmtree(options.rings)
    count = {verdict: verdicts.count(verdict) for verdict in ("right", "weak", "wrong")}
    print(", ".join(f"{n} {verdict}" for verdict, n in count.items()))
    if options.rounds >= 100:
        print(f"METRIC hang.torchrun_crash_right_pct {100 * count['right'] / len(verdicts):.1f} >=99")
        print(f"METRIC hang.torchrun_crash_wrong {count['wrong']} 0")
    return count["right"] != len(verdicts)


if __name__ == "__main__":
    sys.exit(main())
