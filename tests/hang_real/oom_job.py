#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oom_job.py LIBNCCL DIR: rank RANK of two, on simulated GPUs. Rank EATER takes memory without end after a few operations; the other one
waits for it. It knows nothing of the tracer."""

import ctypes
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import nccl_library  # noqa: E402

RANK, EATER = int(os.environ["RANK"]), int(os.environ["EATER"])


def eat():
    held = []
    while True:
        held.append(bytearray(b"x") * (4 << 20))
        time.sleep(0.02)


def main():
    nccl, comm = nccl_library.load(sys.argv[1]), ctypes.c_void_p()
    cuda = ctypes.CDLL(os.path.join(os.path.dirname(sys.argv[1]), "libcudart.so.13"))
    buffer = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(buffer), ctypes.c_size_t(4096))
    if nccl.ncclCommInitRank(ctypes.byref(comm), 2, nccl_library.shared_id(nccl, sys.argv[2] + "/id", RANK == 0), RANK) != 0:
        sys.exit("no communicator")
    for step in range(9):
        if step == 6 and RANK == EATER:
            eat()
        if nccl.ncclAllReduce(buffer, buffer, 4, 7, 0, comm, None) != 0:
            sys.exit("no operation")
        cuda.cudaDeviceSynchronize()
        time.sleep(0.1)


main()
