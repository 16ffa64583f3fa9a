#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oom.py [--possible] — a job in a control group with little memory, one rank of which takes more: the kernel kills it, and the launcher
ends the other one. `commtrace hang`, `info` and `report` have to say which rank, and that it was out of memory. The same rank killed
with the same signal by no one known is no such thing. --possible: exit 0 if this machine lets one make such groups."""

import json
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

LIMIT = 800 << 20  # the library records nothing with less than 512 MB left
ROOTS = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.oom_control"), ("/sys/fs/cgroup", "memory.max", "memory.events")]
# Ends the rank that is left some time after the first one has ended, as launchers do.
LAUNCHER = """
for rank in 0 1; do RANK=$rank WORLD_SIZE=2 LD_LIBRARY_PATH={sim} /usr/bin/python3 {job} {sim}/libnccl.so.2 {dir} & done
wait -n
sleep 3
kill -9 $(jobs -p) 2>/dev/null
wait
"""


def make_group():
    """The path of a new group with that limit, None: not on this machine."""
    for root, limit, counter in ROOTS:
        group = f"{root}/commtrace-test-{os.getpid()}"
        try:
            os.mkdir(group)
        except OSError:
            continue
        try:
            if "oom_kill " not in Path(group, counter).read_text():
                raise OSError
            Path(group, limit).write_text(str(LIMIT))
            return group
        except OSError:
            os.rmdir(group)
    return None


def enter(group):
    if group:
        Path(group, "cgroup.procs").write_text(str(os.getpid()))


def play(work, rings, group, eater):
    """What `hang` says, and the report of what is left."""
    environment = judge.clean_environment(
        LD_PRELOAD=str(judge.LIBRARY), COMMTRACE_DIR=str(work / "run"), COMMTRACE_RING_DIR=rings, COMMTRACE_QUIET="1", COMMTRACE_JOB="oom",
        COMMTRACE_HANG_AFTER="1s", COMMTRACE_RING_MB="1", EATER=str(eater))
    script = LAUNCHER.format(sim=judge.BUILD / "lib" / "sim", job=Path(__file__).with_name("oom_job.py"), dir=work)
    launcher = subprocess.Popen(["/bin/bash", "-c", script], env=environment, preexec_fn=lambda: enter(group), stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        if not group:
            victim = find_rank(launcher.pid, eater)
            time.sleep(3)
            os.kill(victim, signal.SIGKILL)  # by a process that carries no preload
        launcher.wait(judge.PATIENCE_S)
    finally:
        try:
            os.killpg(launcher.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    answer = judge.ask(work / "run", rings=rings)
    report = subprocess.run([judge.COMMTRACE, "report", work / "run", "--format=json"], text=True, capture_output=True, check=True,
                            env=judge.clean_environment(COMMTRACE_RING_DIR=rings))
    return answer, json.loads(report.stdout)


def find_rank(launcher, rank):
    limit = time.monotonic() + judge.PATIENCE_S
    while time.monotonic() < limit:
        for pid in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split():
            try:
                if b"RANK=%d" % rank in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    return int(pid)
            except OSError:
                pass
        time.sleep(0.05)
    raise AssertionError("no such rank")


def one(group, eater, for_memory):
    work = Path(tempfile.mkdtemp(prefix="commtrace-oom."))
    rings = tempfile.mkdtemp(prefix="commtrace-oom.", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    try:
        answer, report = play(work, rings, group, eater)
        says = "signal 9 (SIGKILL), out of memory" if for_memory else "signal 9 (SIGKILL)"
        # a rank that is killed after the other has waited for it was missing before that
        truth = [[("DEAD_RANK", [eater])]] + ([] if for_memory else [[("NEVER_ENTERED", [eater])]])
        verdict, why = judge.judge(answer, truth, [says], [1 - eater])
        assert verdict == "right", f"{answer} {why}\n{answer.text}"
        assert for_memory or "memory" not in answer.said["verdicts"][0]["text"], answer.text
        ended = {tuple(e["ranks"]): e["oom_killed"] for e in report["ended"]}
        assert ended[(eater,)] is (True if for_memory else None), ended
        assert ended.get((1 - eater,)) is None, ended
        print(answer, answer.said["verdicts"][0]["text"])
    finally:
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(rings, ignore_errors=True)


def main():
    group = make_group()
    if "--possible" in sys.argv[1:]:
        if group:
            os.rmdir(group)
        return 0 if group else 1
    assert group, "no control groups with a limit on memory here"
    seed = int(os.environ.get("CT_SEED", time.time_ns() % 1000000))
    eater = random.Random(seed).randrange(2)
    print("seed", seed, "rank", eater, flush=True)
    try:
        one(group, eater, True)
    finally:
        for pid in Path(group, "cgroup.procs").read_text().split():
            os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.2)
        os.rmdir(group)
    one(None, eater, False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
