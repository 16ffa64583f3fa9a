# SPDX-License-Identifier: Apache-2.0
"""Plays plays.py's jobs under the tracer and brings each to its end.

The stage is a process that carries the preload and has imported torch; the ranks are its forks, which begin to record with
their first communicator, as programs of their own do. Many jobs are on stage at a time: all they do is wait. Only what is
distinguished by addresses needs programs of its own (Play.executed)."""

import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import judge
import plays

# How long a job is left alone after its last rank has marked: longer than HANG_AFTER, than the interval of a rank's
# heartbeats and than what a busy machine is late by.
AT_REST_S = 3.0


def enter():
    """This program again, under the preload and in an environment of its own. Returns in the new one only."""
    judge.with_torch()
    if os.environ.get("LD_PRELOAD") != str(judge.LIBRARY):
        rings = tempfile.mkdtemp(prefix="commtrace-stage.", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        environment = judge.clean_environment(
            LD_PRELOAD=str(judge.LIBRARY), COMMTRACE_RING_DIR=rings, COMMTRACE_QUIET="1", COMMTRACE_HANG_AFTER="1s",
            COMMTRACE_BUDGET="off", OMP_NUM_THREADS="1", CT_STAGE=rings)
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)
    os.environ.pop("CT_STAGE")
    import torch.distributed  # noqa: F401  before the forks, once for all


class Job:
    """One play on stage. Its folder is ./NAME, its run ./NAME/run."""

    def __init__(self, play, work, name=None, environment=None):
        self.play, self.folder = play, Path(work) / (name or play.name)
        self.folder.mkdir()
        self.run = self.folder / "run"
        self.environment = {"COMMTRACE_DIR": str(self.run), "COMMTRACE_JOB": self.folder.name, **(environment or {})}
        # A Popen that is thrown away is waited for by the next one, and look() would find no one.
        self.pids, self.ends, self.programs = {}, {}, []
        for rank in range(play.size):
            self.pids[rank] = self.start(rank)

    def start(self, rank):
        environment = {**self.environment, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(self.play.size)}
        if self.play.executed:
            with open(self.folder / f"out.{rank}", "w") as out:
                program = subprocess.Popen([sys.executable, __file__, self.play.name, str(rank), str(self.folder)],
                                           env={**os.environ, **environment}, stdout=out, stderr=out,
                                           preexec_fn=end_with_stage)
            self.programs.append(program)
            return program.pid
        pid = os.fork()
        if pid == 0:
            end_with_stage()
            os.environ.update(environment)
            out = os.open(self.folder / f"out.{rank}", os.O_CREAT | os.O_WRONLY, 0o600)
            os.dup2(out, 1)
            os.dup2(out, 2)
            act(self.play.name, rank, self.folder)
        return pid

    def look(self):
        """Who has ended meanwhile."""
        for rank, pid in self.pids.items():
            if rank not in self.ends and os.waitpid(pid, os.WNOHANG)[0]:
                self.ends[rank] = time.monotonic()

    def rests(self):
        """Every rank has marked or ended."""
        self.look()
        return all(rank in self.ends or (self.folder / f"at.{rank}").exists() for rank in self.pids)

    def kill(self, manner, by_us=True):
        """All ranks: "at once" with SIGKILL; "staggered": SIGTERM one by one, SIGKILL for who is left. `by_us`: the killer carries
        the preload, as a launcher may; else it does not."""
        left = [pid for rank, pid in self.pids.items() if rank not in self.ends]
        random.shuffle(left)
        for sig in [signal.SIGKILL] if manner == "at once" else [signal.SIGTERM, signal.SIGKILL]:
            for pid in left:
                if by_us:
                    os.kill(pid, sig)
                else:
                    subprocess.run(["kill", f"-{int(sig)}", str(pid)], env=judge.clean_environment(), check=False)
                if manner != "at once":
                    time.sleep(random.uniform(0, 0.05))
        while len(self.ends) < len(self.pids):
            self.look()
            time.sleep(0.01)

    def what_ranks_say(self):
        return "\n".join(f"rank {rank}: {(self.folder / f'out.{rank}').read_text()[-600:]}" for rank in self.pids)


def end_with_stage():
    """No rank is left behind where the test itself is ended."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def act(name, rank, folder):
    """What a rank does, to its end."""
    status = 0
    try:
        plays.Part(name, rank, folder).run()
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    leave(status)


def leave(status):
    """As the interpreter ends a program: the C library's handlers run. (A fork of the stage must not run Python's.)"""
    ctypes.CDLL(None).exit(status)


def wait_for_rest(jobs):
    limit = time.monotonic() + judge.PATIENCE_S
    for job in jobs:
        while not job.rests():
            assert time.monotonic() < limit, f"{job.play.name} does not come to rest:\n{job.what_ranks_say()}"
            time.sleep(0.05)
    time.sleep(AT_REST_S)


class Folder:
    """A folder for the jobs, gone afterwards with all that they left in memory; CT_KEEP=1 keeps it."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="commtrace-hang.")
        return self.folder

    def __exit__(self, *_):
        rings = os.environ["COMMTRACE_RING_DIR"]
        if os.environ.get("CT_KEEP"):
            print("kept:", self.folder, rings)
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(rings, ignore_errors=True)


if __name__ == "__main__":
    act(sys.argv[1], int(sys.argv[2]), sys.argv[3])
