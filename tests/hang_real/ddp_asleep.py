#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ddp_asleep.py — DistributedDataParallel under the real torchrun, one rank of which sleeps in its own Python code, or computes there
without end (the seed decides); then all of it is killed with SIGKILL. `commtrace hang` has to name the rank, and the line at which it is
(examples/torch_ddp/train.py)."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import judge

RANKS = 3
TRAIN = judge.ROOT / "examples" / "torch_ddp" / "train.py"
STACKS = judge.BUILD / "bin" / "commtrace-stacks"
SLEEPS = next(n for n, line in enumerate(TRAIN.read_text().split("\n"), 1) if "time.sleep(3600)" in line)


# What makes it compute: a long sleep never comes to sleep.
SPIN = """
import time
short = time.sleep
def sleep(s):
    n = 0
    while s > 600:
        n += 1
    short(s)
time.sleep = sleep
"""


def ranks_of(launcher):
    children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    return [int(pid) for pid in children if b"train.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def check_attached(run, rings, truth, is_busy):
    """Where it is now, with every frame of the running thread."""
    answer, (verdict, why) = judge.watch(lambda: judge.ask("--attach", run, rings=rings), truth)
    assert verdict == "right", f"attached: {answer} {why}"
    (_, (sleeper,)), = truth[0]
    stacks = [stack for stack in answer.said["verdicts"][0]["stacks"] if stack["rank"] == sleeper and stack["main"]]
    assert stacks and stacks[0]["taken_now"] and stacks[0]["paused_ns"], stacks
    kinds = {kind: [frame["func"] for frame in stacks[0]["frames"] if frame["kind"] == kind] for kind in ("python", "native")}
    assert kinds["python"][0].split(".")[-1] == ("sleep" if is_busy else "load_batch"), kinds
    assert stacks[0]["running"] or not is_busy, stacks
    assert kinds["native"][-1] == "_start", kinds


def main():
    judge.with_torch()
    seed = int(os.environ.get("CT_SEED", time.time_ns() % 1000000))
    draw = random.Random(seed)
    sleeper, is_busy = draw.randrange(RANKS), draw.random() < 0.5
    print("seed", seed, "sleeper", sleeper, "busy" if is_busy else "asleep", flush=True)
    work = Path(tempfile.mkdtemp(prefix="commtrace-ddp."))
    rings = tempfile.mkdtemp(prefix="commtrace-ddp.", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    port = subprocess.run([sys.executable, judge.ROOT / "tools" / "free_port.py"], capture_output=True, text=True, check=True)
    environment = judge.clean_environment(
        LD_PRELOAD=str(judge.LIBRARY), COMMTRACE_DIR=str(work / "run"), COMMTRACE_RING_DIR=rings, COMMTRACE_QUIET="1",
        COMMTRACE_HANG_AFTER="1s", COMMTRACE_BUDGET="off", OMP_NUM_THREADS="1",
        PYTHONUNBUFFERED="1")  # the launcher, too, writes on what its ranks say
    if is_busy:
        (work / "sitecustomize.py").write_text(SPIN)
        environment["PYTHONPATH"] = f"{work}:{environment.get('PYTHONPATH', '')}"
    pids = []
    try:
        with open(work / "out", "w") as out:
            launcher = subprocess.Popen(
                [sys.executable, "-m", "torch.distributed.run", "-r", "1", "-t", "1", "--log_dir", work / "log",
                 "--nproc_per_node", str(RANKS), "--master_addr", "127.0.0.1", "--master_port", port.stdout.strip(), TRAIN,
                 "--steps", "9", "--hang-rank", str(sleeper), "--hang-step", "3", "--hidden", "64"],
                env=environment, stdout=out, stderr=out)
        limit = time.monotonic() + judge.PATIENCE_S
        while "step 2 " not in (work / "out").read_text():
            assert launcher.poll() is None and time.monotonic() < limit, (work / "out").read_text()
            time.sleep(0.1)
        pids = ranks_of(launcher.pid)
        assert len(pids) == RANKS, pids
        truth = [[("NEVER_ENTERED", [sleeper])]]
        answer, (verdict, why) = judge.watch(lambda: judge.ask(work / "run", rings=rings), truth)
        assert verdict == "right", f"while it hangs: {answer} {why}\n{answer.text}"
        if STACKS.exists():
            check_attached(work / "run", rings, truth, is_busy)
        time.sleep(3)  # stacks are taken a while after HANG_AFTER
        launcher.kill()  # no one is left to see how the ranks end
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        launcher.wait()
        while any(is_alive(pid) for pid in pids):
            time.sleep(0.05)
        answer = judge.ask(work / "run", rings=rings)
        verdict, why = judge.judge(answer, truth, (), [r for r in range(RANKS) if r != sleeper])
        assert verdict == "right", f"{answer} {why}\n{answer.text}"
        frames = [frame for stack in answer.said["verdicts"][0]["stacks"] if stack["rank"] == sleeper for frame in stack["frames"]]
        here = [frame for frame in frames if frame["kind"] == "python" and frame["file"].endswith("torch_ddp/train.py")]
        assert here, f"no line of rank {sleeper}: {frames}"
        assert (here[0]["func"].split(".")[-1], here[0]["line"]) == ("load_batch", SLEEPS), here
        if is_busy:  # it did run, and was looked at while it did
            spinning = [frame for frame in frames if frame["kind"] == "python"][0]
            assert spinning["file"].endswith("sitecustomize.py") and spinning["func"] == "sleep", spinning
        print(answer, f"{here[0]['file'].rsplit('/', 1)[1]}:{here[0]['line']} {here[0]['func']}")
        print("METRIC hang.ddp_asleep_right 1 >=1")
    finally:
        if launcher.poll() is None:
            pids += ranks_of(launcher.pid)
            launcher.kill()
            launcher.wait()
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        if os.environ.get("CT_KEEP"):
            print("kept:", work, rings)
        else:
            shutil.rmtree(work, ignore_errors=True)
            shutil.rmtree(rings, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
