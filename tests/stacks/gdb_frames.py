# SPDX-License-Identifier: Apache-2.0
"""Run by gdb: the frames of all threads as gdb sees them, on a line that begins with GDB_FRAMES: {tid: [[pc, name], ...]}. Frames of inlined
functions and of tail calls have no frame on the stack: gdb knows them from debug information. A return to 0 ends a stack."""

import json

import gdb

NOT_ON_STACK = (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME)
threads = {}
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, rows = gdb.newest_frame(), []
    while frame is not None and len(rows) < 256:
        if frame.type() not in NOT_ON_STACK and frame.pc():
            rows.append([frame.pc(), frame.name()])
        try:
            frame = frame.older()
        except gdb.error:
            break
    threads[thread.ptid[1] or thread.ptid[0]] = rows
print("GDB_FRAMES", json.dumps(threads))
