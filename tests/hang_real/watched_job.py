#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""watched_job.py PLAY FOLDER — a training loop under torchrun for watched.py. Rank 1 hangs, crashes, or is late; or the job has long phases of
computing, evaluation and writing in which ranks wait, or first a compiler that one rank waits for, and is healthy."""

import os
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist

LONG_S = 9  # longer than the least stall of a running job


COMPILER = f"import time; end = time.monotonic() + {LONG_S}\nwhile time.monotonic() < end: sum(range(10000))"


def compute(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(10000))


def save(path, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with open(path, "wb") as out:
            out.write(bytes(1 << 23))
        time.sleep(0.2)


def steps(n):
    for _ in range(n):
        dist.all_reduce(torch.ones(64))
        dist.all_reduce(torch.ones(8))


def main():
    play, folder = sys.argv[1], Path(sys.argv[2])
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(hours=1))
    rank = dist.get_rank()
    (folder / f"pid.{rank}").write_text(str(os.getpid()))
    if play == "compile" and rank == 1:
        subprocess.run(["sh", "-c", f'"{sys.executable}" -c "{COMPILER}"; exit'], check=True)
    steps(60)
    if play == "hang" and rank == 1:
        time.sleep(3600)
    if play == "crash" and rank == 1:
        os.abort()
    if play == "recover":
        if rank == 1:
            while not (folder / "go").exists():
                time.sleep(0.2)
        for _ in range(40):
            steps(1)
            time.sleep(0.25)
    if play == "healthy":
        compute(LONG_S)
        steps(5)
        if rank == 0:
            compute(LONG_S)
        dist.barrier()
        if rank == 0:
            save(folder / "checkpoint", LONG_S)
        dist.barrier()
        steps(5)
    dist.barrier()
    # without it a thread of Gloo's may meet the end of the interpreter, which then aborts
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
