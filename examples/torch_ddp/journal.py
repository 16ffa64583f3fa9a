# SPDX-License-Identifier: Apache-2.0
"""torch.distributed's blocking calls, with a note in a file before and after each of them.

The file is what the project's kill tests hold a trace against. Its layout, and what `entered`,
`returned` and `bytes` mean, is explained in tests/interpose/journal.h; here every rank uses lane 0.

Each call named below becomes one call of Gloo, and nothing else does (torch 1.13; send and recv are
a begin and a wait there). Joining a process group, new_group() and destroy_process_group() call
nothing in Gloo: they meet through the store. DistributedDataParallel has calls of its own, which
C++ issues and Python cannot see: one all-gather and two broadcasts when it is made, all-reduces in
every backward pass, and two broadcasts when it rebuilds its buckets in the second step. So a
program that keeps a journal must not use it.
"""

import mmap
import os
import struct
import sys
import threading

import torch.distributed as dist

LANES = 16
CAPACITY = 1 << 16
LANE_0 = 64
ENTRIES = 4096
FULL = 1

# name: the op in the journal, and which argument is the buffer that the call is about
CALLS = {
    "all_reduce": (1, 0),
    "broadcast": (2, 0),
    "reduce": (3, 0),
    "all_gather": (4, 1),
    "all_to_all_single": (6, 1),
    "gather": (7, 0),
    "scatter": (8, 0),
    "barrier": (9, None),
    "send": (10, 0),
    "recv": (11, 0),
}
ALL_TO_ALL_UNEVEN = 106


class Journal:
    """Use it instead of the module: journal.all_reduce(tensor) is dist.all_reduce(tensor)."""

    def __init__(self, directory, rank, size):
        size_bytes = ENTRIES + LANES * CAPACITY * 16
        path = os.path.join(directory, f"rank-{rank}.journal")
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        os.ftruncate(file, size_bytes)
        self.map = mmap.mmap(file, size_bytes)
        os.close(file)
        # A view of 8-byte words stores each in one move; pack_into("<Q") would go byte by byte, and
        # the process may be killed between two of them.
        self.words = memoryview(self.map).cast("Q")
        self.entered = 0
        struct.pack_into("<IIiii", self.map, 8, LANES, CAPACITY, rank, size, os.getpid())
        struct.pack_into("<I", self.map, LANE_0 + 16, threading.get_native_id())
        self.map[0:8] = b"CTJRNL01"

    def __getattr__(self, name):
        if name not in CALLS:
            raise AttributeError(f"a journalled job may not call {name}")
        op, index = CALLS[name]
        function = getattr(dist, name)

        def call(*args, **options):
            buffer = None if index is None else args[index]
            size_bytes = 0 if buffer is None else buffer.numel() * buffer.element_size()
            uneven = name == "all_to_all_single" and len(args) > 2
            noted = self.enter(ALL_TO_ALL_UNEVEN if uneven else op, size_bytes)
            result = function(*args, **options)
            if noted:
                self.words[LANE_0 // 8 + 1] = self.entered
            return result

        return call

    def enter(self, op, size_bytes):
        """Note the next call; False once the journal is full, which is said once."""
        if self.entered == CAPACITY:
            if struct.unpack_from("<I", self.map, LANE_0 + 20)[0] != FULL:
                struct.pack_into("<I", self.map, LANE_0 + 20, FULL)
                print("the journal is full and stops", file=sys.stderr, flush=True)
            return False
        struct.pack_into("<IIQ", self.map, ENTRIES + 16 * self.entered, op, 0, size_bytes)
        self.entered += 1
        self.words[LANE_0 // 8] = self.entered
        return True
