# SPDX-License-Identifier: Apache-2.0
"""sites.py LIBNCCL DIR: rank RANK of two calls NCCL from call sites that it notes, one a line, in DIR/want.RANK; those of calls that
move no data, after the first, in DIR/want_calls.RANK."""
import ctypes
import os
import sys
import threading

import nccl_library

RANK, DIR = int(os.environ["RANK"]), sys.argv[2]
ROUNDS = int(os.environ.get("SITES_ROUNDS", "3"))
LINES = int(os.environ.get("SITES_LINES", "7"))
want = open(os.path.join(DIR, "want.%d" % RANK), "w", encoding="utf-8")
want_calls = open(os.path.join(DIR, "want_calls.%d" % RANK), "w", encoding="utf-8")


nccl = nccl_library.load(sys.argv[1])
buffer = (ctypes.c_float * 4)(1, 2, 3, 4)
comm = ctypes.c_void_p()


def passed_over(file):
    return file.startswith("<frozen ") or "-packages/torch/" in file or file.endswith(("/functools.py", "/contextlib.py"))


def note(to=None):
    """The caller's call site, as the interpreter shows it."""
    frame, sites = sys._getframe(1), []
    while frame is not None and len(sites) < 3:
        name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
        if not passed_over(frame.f_code.co_filename):
            sites.append("%s:%d %s" % (frame.f_code.co_filename, frame.f_lineno, name))
        frame = frame.f_back
    print(" < ".join(sites), file=to or want)


def reduce():
    return nccl.ncclAllReduce(buffer, buffer, 4, 7, 0, comm, None)


class Model:
    def step(self):
        note(); nccl.ncclAllReduce(buffer, buffer, 4, 7, 0, comm, None)
        for _ in range(2):
            note(); nccl.ncclAllReduce(buffer, buffer, 4, 7, 0, comm, None)


def save_checkpoint():
    note(); nccl.ncclAllReduce(buffer, buffer, 4, 7, 0, comm, None)


def finalize():
    note(); nccl.ncclAllReduce(buffer, buffer, 4, 7, 0, comm, None)


def generator():
    for _ in range(2):
        note(); nccl.ncclAllReduce(buffer, buffer, 4, 7, 0, comm, None)
        yield


# A library that passes calls on, where it is installed: the call site that is reported is that of its caller.
LIBRARY = """
def barrier(do):
    def inner():
        return do()
    return inner()
"""
scope = {}
exec(compile(LIBRARY, "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py", "exec"), scope)
barrier = scope["barrier"]


def group_of_two():
    nccl.ncclGroupStart()
    for _ in range(2):
        note(); nccl.ncclAllReduce(buffer, buffer, 4, 7, 0, comm, None)
    note(want_calls); nccl.ncclGroupEnd()


def split():
    child = ctypes.c_void_p()
    note(want_calls); nccl.ncclCommSplit(comm, 0, RANK, ctypes.byref(child), None)
    note(want_calls); nccl.ncclCommDestroy(child)


def through_library():
    barrier(lambda: (note(), nccl.ncclAllReduce(buffer, buffer, 4, 7, 0, comm, None)))


def made_anew(n):
    """Code objects that come where others were."""
    for i in range(n):
        names = {"note": note, "nccl": nccl, "buffer": buffer, "comm": comm}
        line = i % LINES + 1
        exec(compile("\n" * line + "note(); nccl.ncclAllReduce(buffer, buffer, 4, 7, 0, comm, None)\n", "made.py", "exec"), names)


unique = nccl_library.shared_id(nccl, os.path.join(DIR, "id"), RANK == 0)
note(want_calls); made = nccl.ncclCommInitRank(ctypes.byref(comm), 2, unique, RANK)
if made != 0:
    sys.exit("no communicator")
for _ in range(ROUNDS):
    Model().step()
    list(generator())
    through_library()
if RANK == 0:
    save_checkpoint()
else:
    finalize()
thread = threading.Thread(target=save_checkpoint)
thread.start()
thread.join()
made_anew(int(os.environ.get("SITES_MADE", "50")))
group_of_two()
split()
want.close()
note(want_calls); nccl.ncclCommDestroy(comm)
want_calls.close()
