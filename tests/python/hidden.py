# SPDX-License-Identifier: Apache-2.0
"""hidden.py LIBNCCL DIR WAY...: rank RANK of two, on simulated GPUs, as a user who is not root. Rank 1 stops calling, in stand(); then both
say so and wait to be killed. WAY: what the kernel is asked, so that others see less of the process:

    dumpable   PR_SET_DUMPABLE 0, after the last call (the simulator's ranks look into each other's memory)
    filter     a filter of system calls that answers process_vm_readv with EPERM, before the first"""

import ctypes
import os
import platform
import sys
import threading

import nccl_library

RANK, PATH, WAYS = int(os.environ["RANK"]), sys.argv[2], sys.argv[3:]
libc = ctypes.CDLL(None, use_errno=True)
PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 4, 22, 38


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]


class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]


def forbid_reading():
    number = 310 if platform.machine() == "x86_64" else 270
    program = (Instruction * 4)(
        Instruction(0x20, 0, 0, 0),  # the call's number
        Instruction(0x15, 0, 1, number),
        Instruction(0x06, 0, 0, 0x00050001),  # EPERM
        Instruction(0x06, 0, 0, 0x7FFF0000))
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, 2, ctypes.byref(Program(4, program)), 0, 0) == 0


def stand():
    with open(PATH + "/stands.%d" % RANK, "w", encoding="utf-8"):
        pass
    threading.Event().wait()


if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
assert libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0
if "filter" in WAYS:
    forbid_reading()
nccl = nccl_library.load(sys.argv[1])
buffer, comm = ctypes.c_void_p(), ctypes.c_void_p()
cudart = ctypes.CDLL(os.path.join(os.path.dirname(sys.argv[1]), "libcudart.so.13"))
assert cudart.cudaMalloc(ctypes.byref(buffer), ctypes.c_size_t(4096)) == 0
unique = nccl_library.shared_id(nccl, os.path.join(PATH, "id"), RANK == 0)
if nccl.ncclCommInitRank(ctypes.byref(comm), 2, unique, RANK) != 0:
    sys.exit("no communicator")
for step in range(5 if RANK == 0 else 4):
    nccl.ncclAllReduce(buffer, buffer, 4, 7, 0, comm, None)
if "dumpable" in WAYS:
    assert libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
stand()
