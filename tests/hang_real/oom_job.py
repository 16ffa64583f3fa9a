#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oom_job.py LIBNCCL DIR: rank RANK of two, on simulated GPUs. Rank EATER takes memory without end after a few operations; the other one
waits for it. It knows nothing of the tracer."""

import ctypes
import os
import sys
import time

RANK, EATER = int(os.environ["RANK"]), int(os.environ["EATER"])


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_ubyte * 128)]


def shared_id(nccl, path):
    unique = UniqueId()
    if RANK == 0:
        nccl.ncclGetUniqueId(ctypes.byref(unique))
        with open(path + ".new", "wb") as file:
            file.write(bytes(unique.internal))
        os.rename(path + ".new", path)
    while not os.path.exists(path):
        time.sleep(0.01)
    with open(path, "rb") as file:
        ctypes.memmove(unique.internal, file.read(128), 128)
    return unique


def eat():
    held = []
    while True:
        held.append(bytearray(b"x") * (4 << 20))
        time.sleep(0.02)


def main():
    nccl, comm = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
    cuda = ctypes.CDLL(os.path.join(os.path.dirname(sys.argv[1]), "libcudart.so.13"))
    nccl.ncclCommInitRank.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, UniqueId, ctypes.c_int]
    nccl.ncclAllReduce.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                                   ctypes.c_void_p, ctypes.c_void_p]
    buffer = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(buffer), ctypes.c_size_t(4096))
    if nccl.ncclCommInitRank(ctypes.byref(comm), 2, shared_id(nccl, sys.argv[2] + "/id"), RANK) != 0:
        sys.exit("no communicator")
    for step in range(9):
        if step == 6 and RANK == EATER:
            eat()
        if nccl.ncclAllReduce(buffer, buffer, 4, 7, 0, comm, None) != 0:
            sys.exit("no operation")
        cuda.cudaDeviceSynchronize()
        time.sleep(0.1)


main()
