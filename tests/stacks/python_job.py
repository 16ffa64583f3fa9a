# SPDX-License-Identifier: Apache-2.0
"""python_job.py HOW WHERE [LIBRARY] — Python that computes, in its own code (busy), in an extension that holds the GIL (held), or that dies in
a call (dies). WHERE is a file with its frames, by the interpreter itself; it appears complete."""

import ctypes
import os
import sys
import threading
import time


def write_frames(path):
    """The frames of the caller."""
    frame, lines = sys._getframe(1), []
    while frame:
        lines.append("%s %s %d" % (getattr(frame.f_code, "co_qualname", frame.f_code.co_name), frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    with open(path + ".part", "w") as out:
        out.write("\n".join(lines) + "\n")
    os.rename(path + ".part", path)


class Model:
    def busy(self, path):
        write_frames(path); n = 0  # noqa: E702  one line, the one in the file
        while True: n += 1  # noqa: E701

    def held(self, path, library):
        spin = ctypes.PyDLL(library).holds_gil
        write_frames(path); spin()  # noqa: E702

    def dies(self, path):
        read = ctypes.memmove
        write_frames(path); read(16, 16, 1)  # noqa: E702


def main():
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
    time.sleep(0.1)
    getattr(Model(), sys.argv[1])(*sys.argv[2:])


main()
