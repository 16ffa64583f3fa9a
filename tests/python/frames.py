# SPDX-License-Identifier: Apache-2.0
"""What the walker reads from memory is what the interpreter says of itself. usage: python3 frames.py walker.so"""
import asyncio
import ctypes
import functools
import os
import sys
import threading
import traceback

walker = ctypes.CDLL(sys.argv[1])
walker.walker_find.restype = ctypes.c_int
ROOM = 1 << 20
out = ctypes.create_string_buffer(ROOM)


def name_of(frame):
    return getattr(frame.f_code, "co_qualname", frame.f_code.co_name)


def parsed(text):
    return [(f[0], f[1], int(f[2])) for f in (row.split("\t") for row in text.split("\n")[:-1])]


def cut(file, name):
    """As the walker cuts what is too long."""
    encoded = file.encode("utf-8", "replace")
    return (file if len(encoded) < 256 else "..." + file[-252:], name[:127])


def said(frame):
    rows = []
    while frame is not None:
        rows.append(cut(frame.f_code.co_filename, name_of(frame)) + (frame.f_lineno or 0,))
        frame = frame.f_back
    return rows


def check(what, got, want):
    if got != want:
        print("FAIL", what, "\n got ", got, "\n want", want)
        sys.exit(1)


checked = 0


def here(what="here"):
    """Own frames, read with loads and through the kernel: all but the one that asks."""
    global checked
    for plainly in (1, 0):
        walker.walker_own(plainly, out, ROOM)
        got = parsed(out.value.decode())
        check(what, got[1:], said(sys._getframe(1)))
        check(what + ", itself", got[0][1], "here")
    checked += 1


def multiline(a, b):
    return (a +

            b)


class Model:
    def forward(self):
        here("method")

        class Inner:
            @staticmethod
            def deep():
                here("nested class")
        Inner.deep()

    def __add__(self, other):
        here("operator")
        return self

    @property
    def width(self):
        here("property")
        return 1


def generator():
    here("generator")
    yield 1
    here("generator again")
    yield 2


async def leaf():
    await asyncio.sleep(0)
    here("coroutine")


async def tree():
    await asyncio.gather(leaf(), leaf())


def recursive(n):
    if n:
        recursive(n - 1)
    else:
        here("deep")


def raising():
    try:
        raise ValueError
    except ValueError:
        here("handler")
    finally:
        here("finally")


def far():
    """Its code is longer than what one byte of a table shows."""
    scope = {"here": here}
    body = "def long():\n" + "".join(" x%d = %d\n" % (i, i) for i in range(3000))
    body += "\n" * 700 + " here('far down')\n" + " y = (1 +\n\n\n\n  (here('many lines') or 2) +\n 3)\n"
    exec(compile(body, "exec'ed file.py", "exec"), scope)
    scope["long"]()
    exec(compile("\n" * 70000 + "here('line 70001')\n", "weird/\u00e9\u4e2d\U0001f40d.py", "exec"), scope)
    exec(compile("here('long name')\n", "x/" * 300 + "end.py", "exec"), scope)
    exec(compile("def \u00e4\u5b57():\n here('name')\n\u00e4\u5b57()\n", "n.py", "exec"), scope)


def numbered(thread):
    if hasattr(thread, "native_id"):
        return thread.native_id


def others():
    """Threads that sit still are found by the kernel's number of theirs."""
    global checked
    go = threading.Event()
    threads = []

    def sit(n):
        if n:
            sit(n - 1)
        else:
            go.wait()

    for depth in range(5):
        t = threading.Thread(target=sit, args=(depth,))
        t.start()
        threads.append(t)
    for t in threads:
        for _ in range(10000):
            frame = sys._current_frames().get(t.ident)
            if frame is not None and frame.f_code.co_name == "wait":
                inner = frame
                break
        else:
            continue
        for _ in range(10000):
            walker.walker_of(numbered(t), out, ROOM)
            got = parsed(out.value.decode())
            if got == said(sys._current_frames()[t.ident]):
                break
        check("another thread", got, said(sys._current_frames()[t.ident]))
        checked += 1
    go.set()
    for t in threads:
        t.join()
    walker.walker_of(1, out, ROOM)
    if os.getpid() != 1:
        check("no such thread", out.value, b"?")


def broken():
    """Numbers that are wrong lead to other answers or none, never to a fault: all is read through the kernel."""
    want = None
    field = changed = 0
    while walker.walker_shift(field, 0) == 0:
        for by in (-16, -8, -4, 4, 8, 16, 24, 64, 4096, 1 << 20):
            walker.walker_shift(field, by)
            walker.walker_own(0, out, ROOM)
            other = parsed(out.value.decode())
            walker.walker_of(threading.get_native_id(), out, ROOM)
            walker.walker_shift(field, -by)
            walker.walker_own(0, out, ROOM)
            if other != parsed(out.value.decode()):
                changed += 1
        field += 1
    # of what is not there in this version, or not used for one's own thread, nothing changes
    if changed < 60:
        print("FAIL: only", changed, "wrong numbers made a difference")
        sys.exit(1)


version = walker.walker_find()
check("version", version, sys.version_info[0] << 8 | sys.version_info[1])
here()
Model().forward()
Model() + 1
Model().width
list(generator())
asyncio.run(tree())
recursive(100)
raising()
far()
sorted([2, 1], key=lambda x: here("key") or x)
list(map(lambda x: here("map"), [1]))
[here("comprehension") for _ in range(2)]
functools.partial(here, "partial")()
thread = threading.Thread(target=lambda: here("a thread of its own"))
thread.start()
thread.join()
others()
broken()
here("after all that")
print("ok: %d stacks of Python %d.%d" % (checked, version >> 8, version & 255))
