# SPDX-License-Identifier: Apache-2.0
"""One call of a communicator, then this process sleeps at a point that it writes to FILE: functions and lines, innermost first.

usage: stack_job.py LIBRARY FILE      (the fake Gloo of this folder)
"""
import ctypes
import sys
import threading
import time


class Context(ctypes.Structure):
    _fields_ = [("table", ctypes.c_void_p), ("rank", ctypes.c_int32), ("size", ctypes.c_int32),
                ("rest", ctypes.c_uint64 * 12)]


class Options(ctypes.Structure):
    _fields_ = [("context", ctypes.POINTER(Context)), ("a", ctypes.c_uint64 * 2), ("tag", ctypes.c_uint32),
                ("called_id", ctypes.c_int32), ("own", ctypes.c_void_p)]


def where():
    """What the caller's frames are, as the interpreter shows it."""
    frame = sys._getframe(1)
    lines = []
    while frame:
        code = frame.f_code
        lines.append("%s %d" % (getattr(code, "co_qualname", code.co_name), frame.f_lineno))
        frame = frame.f_back
    return "\n".join(lines) + "\n"


class Loader:
    def batch(self, path):
        with open(path, "w") as out:
            out.write(where()), out.flush(), time.sleep(3600)  # in one line, which is the one that where() shows


def evaluate(path):
    return Loader().batch(path)


def main():
    fake = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
    everything = ctypes.CDLL(None)
    context = Context(rank=0, size=2)
    options = Options(context=ctypes.pointer(context))
    everything["_ZN4gloo7barrierERNS_14BarrierOptionsE"](ctypes.byref(options))
    fake.fake_id()
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
    evaluate(sys.argv[2])


main()
