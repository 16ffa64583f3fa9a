# SPDX-License-Identifier: Apache-2.0
"""NCCL for programs in Python that are ranks of a job: its types, and the id by which ranks find each other."""
import ctypes
import os
import time


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_ubyte * 128)]


def load(path):
    nccl, pointer, number = ctypes.CDLL(path), ctypes.c_void_p, ctypes.c_int
    nccl.ncclCommInitRank.argtypes = [ctypes.POINTER(pointer), number, UniqueId, number]
    nccl.ncclAllReduce.argtypes = [pointer, pointer, ctypes.c_size_t, number, number, pointer, pointer]
    return nccl


def shared_id(nccl, path, is_first):
    """One of the ranks makes it, and all read it from this file."""
    unique = UniqueId()
    if is_first:
        nccl.ncclGetUniqueId(ctypes.byref(unique))
        with open(path + ".new", "wb") as file:
            file.write(bytes(unique.internal))
        os.rename(path + ".new", path)
    while not os.path.exists(path):
        time.sleep(0.01)
    with open(path, "rb") as file:
        ctypes.memmove(unique.internal, file.read(128), 128)
    return unique
