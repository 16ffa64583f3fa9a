# SPDX-License-Identifier: Apache-2.0
"""hard_times.py LIBNCCL: calls of NCCL at times when an interpreter is hard to look at, on a communicator of one rank: from threads
of a C library, sub-interpreters, callbacks in callbacks, destructors, and threads that still run when it ends."""
import atexit
import ctypes
import gc
import sys
import threading
import time

import nccl_library


nccl = nccl_library.load(sys.argv[1])
comm, unique = ctypes.c_void_p(), nccl_library.UniqueId()
nccl.ncclGetUniqueId(ctypes.byref(unique))
buffer = (ctypes.c_float * 4)(1, 2, 3, 4)
if nccl.ncclCommInitRank(ctypes.byref(comm), 1, unique, 0) != 0:
    sys.exit("no communicator")


def reduce(nccl=nccl, buffer=buffer, comm=comm):
    nccl.ncclAllReduce(buffer, buffer, 4, 7, 0, comm, None)


class Late:
    def __del__(self, reduce=reduce):
        reduce()


class Step(Late):
    def __init__(self):
        self.me = self


# Python between C frames, between Python frames
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
libc = ctypes.CDLL(None)


def compare(a, b, depth=[0]):
    reduce()
    if depth[0] < 3:
        depth[0] += 1
        libc.qsort((ctypes.c_int * 3)(3, 1, 2), 3, 4, COMPARE(compare))
        depth[0] -= 1
    return 0


libc.qsort((ctypes.c_int * 3)(3, 1, 2), 3, 4, COMPARE(compare))

# a thread that Python did not make: it gets a state for each callback
START = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
start = START(lambda _: [reduce() for _ in range(20)] and None)
for _ in range(10):
    handle = ctypes.c_ulong()
    libc.pthread_create(ctypes.byref(handle), None, start, None)
    libc.pthread_join(handle, None)
# ... and one that has none, straight from C
for _ in range(3):
    handle = ctypes.c_ulong()
    libc.pthread_create(ctypes.byref(handle), None, ctypes.cast(nccl.ncclGetVersion, ctypes.c_void_p), ctypes.byref(ctypes.c_int()))
    libc.pthread_join(handle, None)

# another interpreter in the same thread
for name in ("_interpreters", "_xxsubinterpreters"):
    try:
        interpreters = __import__(name)
    except ImportError:
        continue
    other = interpreters.create()
    try:
        interpreters.run_string(other, """if 1:
            try:
                import ctypes
            except ImportError:
                raise SystemExit
            nccl = ctypes.CDLL(%r)
            buffer = (ctypes.c_float * 4)(1, 2, 3, 4)
            def inside():
                nccl.ncclAllReduce(buffer, buffer, ctypes.c_size_t(4), 7, 0, ctypes.c_void_p(%d), None)
            for _ in range(20):
                inside()
            """ % (sys.argv[1], comm.value))
    except (Exception, SystemExit):
        pass
    interpreters.destroy(other)
    break

# threads that come and go while others call
def busy(n):
    for _ in range(n):
        reduce()


threads = [threading.Thread(target=busy, args=(100,)) for _ in range(20)]
for t in threads:
    t.start()
for t in threads:
    t.join()
for _ in range(50):
    Step()
gc.collect()
sys.settrace(lambda *a: None)
reduce()
sys.settrace(None)


def endless():
    while True:
        reduce()


for _ in range(4):
    threading.Thread(target=endless, daemon=True).start()
kept = Late()
atexit.register(reduce)
time.sleep(0.05)
print("the end")
