#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""by_stack.py — ranks that stand in what is not recorded: their stacks, and what they have under way, show. Jobs on simulated GPUs, killed and
judged from what is left:

    chain    0 waits for 1 in A; 1 has issued an operation of B and copies its result; 2 never comes to B. It is 2's fault
    kernel   0 waits for 1 in A; 1 copies (cudaMemcpy) what a kernel of its own never finishes. It is 1's fault, and its stack shows the copy
    chatty   0 waits for 1 in A; 1 computes without end, while another thread of it goes on in B. Nothing of 1 stands still: only 0's
             ring shows that it is missed

by_stack.py [PLAY...]; by_stack.py rank PLAY LIBS DIR: one rank of it."""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import nccl_library  # noqa: E402

ROOT = Path(os.environ.get("CT_ROOT") or Path(__file__).resolve().parents[2])
BUILD = Path(os.environ.get("CT_BUILD") or ROOT / "build")
FOR_EVER = 10**15


class Rank:
    def __init__(self, libs, directory):
        self.rank, self.dir = int(os.environ["RANK"]), directory
        self.nccl = nccl_library.load(libs + "/libnccl.so.2")
        self.cudart = ctypes.CDLL(libs + "/libcudart.so.13")
        self.cuda = ctypes.CDLL(libs + "/libcuda.so.1")
        pointer = ctypes.c_void_p
        self.cudart.cudaMemcpy.argtypes = [pointer, pointer, ctypes.c_size_t, ctypes.c_int]
        self.cuda.simCompute.argtypes = [pointer, ctypes.c_uint64]
        self.data = pointer()
        assert self.cudart.cudaMalloc(ctypes.byref(self.data), ctypes.c_size_t(4096)) == 0

    def comm(self, name, ranks):
        comm = ctypes.c_void_p()
        if self.rank not in ranks:
            return None
        unique = nccl_library.shared_id(self.nccl, f"{self.dir}/{name}", self.rank == ranks[0])
        assert self.nccl.ncclCommInitRank(ctypes.byref(comm), len(ranks), unique, ranks.index(self.rank)) == 0
        return comm

    def reduce(self, comm):
        if comm:
            assert self.nccl.ncclAllReduce(self.data, self.data, 4, 7, 0, comm, None) == 0

    def stands(self):
        Path(f"{self.dir}/stands.{self.rank}").touch()

    def copy(self):
        here = (ctypes.c_float * 4)()
        self.cudart.cudaMemcpy(here, self.data, 16, 2)  # device to host


def compute():
    n = 0
    while True:
        n += 1


def go_on(r, comm):
    while True:
        r.reduce(comm)
        r.cudart.cudaDeviceSynchronize()  # nothing is under way while it sleeps
        time.sleep(0.3)


def play(what, libs, directory):
    r = Rank(libs, directory)
    a, b = r.comm("a", [0, 1]), r.comm("b", [1, 2])
    for _ in range(4):
        r.reduce(a)
        r.reduce(b)
        r.copy()
    if what == "chatty" and r.rank > 0:
        threading.Thread(target=go_on, args=(r, b), daemon=True).start()
    if what == "chatty" and r.rank == 1:
        r.stands()
        compute()
    if r.rank == 1:
        r.stands()
        if what == "chain":
            r.reduce(b)
        else:
            r.cuda.simCompute(None, FOR_EVER)
        r.copy()
    if r.rank == 0:
        r.reduce(a)
    r.stands()
    time.sleep(600)


def stuck(what, work, rings):
    """What `hang` says of the job after it was killed."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("COMMTRACE", "LD_PRELOAD"))}
    env = dict(own, LD_PRELOAD=str(BUILD / "lib" / "libcommtrace.so"), LD_LIBRARY_PATH=str(BUILD / "lib" / "sim"), COMMTRACE_DIR=f"{work}/run",
               COMMTRACE_RING_DIR=rings, COMMTRACE_QUIET="1", COMMTRACE_JOB="stacks", COMMTRACE_HANG_AFTER="1s", COMMTRACE_RING_MB="1", WORLD_SIZE="3")
    ranks = [subprocess.Popen([sys.executable, __file__, "rank", what, str(BUILD / "lib" / "sim"), str(work)], env=dict(env, RANK=str(r)))
             for r in range(3)]
    try:
        limit = time.monotonic() + 120
        while not all((work / f"stands.{r}").exists() for r in range(3)):
            assert time.monotonic() < limit and all(p.poll() is None for p in ranks), "the job never came to hang"
            time.sleep(0.1)
        time.sleep(6)
    finally:
        for p in ranks:
            p.send_signal(signal.SIGKILL)
            p.wait()
    said = subprocess.run([BUILD / "bin" / "commtrace", "hang", "--json", f"{work}/run"], env=dict(own, COMMTRACE_RING_DIR=rings),
                          stdout=subprocess.PIPE, check=False, timeout=120)
    return json.loads(said.stdout)["verdicts"]


def main():
    if sys.argv[1:2] == ["rank"]:
        return play(*sys.argv[2:])
    plays = [("chain", 2, [0, 1]), ("kernel", 1, [0]), ("chatty", 1, [0])]
    for what, guilty, victims in plays:
        if sys.argv[1:] and what not in sys.argv[1:]:
            continue
        work, rings = Path(tempfile.mkdtemp(prefix="commtrace-stack.")), tempfile.mkdtemp(prefix="commtrace-stack.", dir="/dev/shm")
        try:
            verdicts = stuck(what, work, rings)
            print(what, *(v["text"] + " " + v["confidence"] for v in verdicts), flush=True)
            assert [(v["code"], v["ranks"]) for v in verdicts] == [("NEVER_ENTERED", [guilty])], verdicts
            # of chatty, who is killed last may wait for those before it
            assert verdicts[0]["victims"] == victims or (what == "chatty" and 0 in verdicts[0]["victims"]), verdicts
            frames = [f for s in verdicts[0]["stacks"] if s["main"] and s["rank"] == 1 for f in s["frames"]]
            if what == "kernel":
                assert any("emcpy" in (f["func"] or "") for f in frames if f["kind"] == "native"), frames
                assert any(f["func"].split(".")[-1] == "copy" for f in frames if f["kind"] == "python"), frames
            if what == "chatty":
                assert [f["func"] for f in frames if f["kind"] == "python"][:1] == ["compute"], frames
        finally:
            shutil.rmtree(work, ignore_errors=True)
            shutil.rmtree(rings, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
