#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stacks.py [CASE...] — stacks of running processes and of cores: native frames are those of gdb, Python's those of the interpreter
itself. Running threads, an extension that holds the GIL, processes with and without the library, a rank that crashed."""

import os
import shutil
import subprocess
import sys

import stage

STACK_JOB = stage.BUILD / "tests" / "interpose" / "stack_job"
HOLDS_GIL = stage.BUILD / "tests" / "stacks" / "libholds_gil.so"
LIBRARY = stage.BUILD / "lib" / "libcommtrace.so"
PYTHON_JOB = stage.HERE / "python_job.py"
BARRIER = "gloo::barrier(gloo::BarrierOptions&)"
IN_CALL = [BARRIER, "train_step", "train_epoch"]


def same_as_gdb(thread, rows, running=False):
    """Each frame that gdb has, at the same address; gdb's callers are at the instruction behind the call. Of a running thread the innermost
    frame moves on in its function."""
    ours = stage.frames(thread)
    assert len(ours) >= len(rows) > 0, f"{len(ours)} frames, gdb has {len(rows)}: {stage.functions(thread)} {rows}"
    assert running or ours[0]["pc"] == rows[0][0], f"{ours[0]} where gdb has {rows[0]}"
    for frame, (pc, name) in list(zip(ours, rows))[running:]:
        assert frame["pc"] in (pc, pc - 1), f"{frame} where gdb has {pc:#x} {name}"
    if running:
        assert ours[0]["func"] == rows[0][1], f"{ours[0]} where gdb has {rows[0]}"
    # a thread that has just been made has no caller yet, and no table says so
    assert not thread["cut"] or [name for _, name in rows] == ["clone3"], thread


def both(pid, running=False):
    """All threads of a process, ours and gdb's."""
    process, = stage.stacks(pid)
    assert not process["error"], process
    seen = stage.gdb("-p", pid)
    assert len(seen) == len(process["threads"]), (len(seen), len(process["threads"]))
    for thread in process["threads"]:
        same_as_gdb(thread, seen[thread["tid"]], running and thread["main"])
    return process


def waiting(how, state="S"):
    """A job of stack_job that is where it stays."""
    job = stage.job(STACK_JOB, how)
    return job, lambda pid: stage.until(lambda: stage.state(pid) == state and has_function(pid), f"{how}: ready")


def has_function(pid):
    return any(BARRIER in stage.functions(thread) for thread in stage.stacks(pid)[0]["threads"])


def c_case(how, wanted, running=False, main=True):
    job, ready = waiting(how, "R" if running else "S")
    with job as process:
        ready(process.pid)
        seen = both(process.pid, running)
        threads = [t for t in seen["threads"] if t["main"] == main and BARRIER in stage.functions(t)]
        assert threads and all(stage.has_in_order(stage.functions(t), wanted) for t in threads), [stage.functions(t) for t in threads]
        assert all(t["running"] == (running and t["main"]) for t in threads), threads


def busy_c(_):
    c_case("spins", ["spins", *IN_CALL, "main"], running=True)


def frame_pointers(_):
    c_case("pointer", ["sleeps", *IN_CALL, "with_room", "compare", "sorts", "main"])


def signal_stack(_):
    c_case("signalled", ["sleeps", "lost_in_thought", "handles", "signals", *IN_CALL, "main"])


def many_threads(_):
    c_case("threads", ["sleeps", *IN_CALL, "worker"], main=False)


def leaderless(_):
    """gdb does not attach where the first thread has ended."""
    with stage.job(STACK_JOB, "leaderless") as process:
        stage.until(lambda: stage.state(process.pid) == "Z" and has_function(process.pid), "ready")
        first, other = stage.stacks(process.pid)[0]["threads"]
        assert first["not_taken"] == "it has ended" and stage.has_in_order(stage.functions(other), [*IN_CALL, "worker"]), other


def frames_are(path, thread):
    """Python's frames are those that it wrote; while it computes it may be one line below."""
    got = [(frame["func"], frame["file"], frame["line"]) for frame in stage.frames(thread, "python")]
    want = [(func, file, int(line)) for func, file, line in (row.split() for row in path.read_text().splitlines())]
    assert got == want or got == [(*want[0][:2], want[0][2] + 1), *want[1:]], f"{got}, expected {want}"
    assert not thread["python_cut"]


def python_job(folder, python, how, *more, preload=False):
    where = folder / "where"
    environment = {**os.environ, "LD_PRELOAD": str(LIBRARY)} if preload else None
    with stage.job(python, PYTHON_JOB, how, where, *more, env=environment) as process:
        stage.until(where.exists, f"{python} {how}: ready")
        stage.until(lambda: stage.state(process.pid) == "R", "running")
        seen, = stage.stacks(process.pid)
        main, other = seen["threads"]
        frames_are(where, main)
        assert main["running"] and main["paused_ns"], main
        assert "run" in other["frames"][-3]["func"] and other["frames"][-3]["kind"] == "python", other
        return seen, stage.gdb("-p", process.pid) if more else None


def busy_python(folder):
    """Of every interpreter of this machine."""
    found = subprocess.run([stage.HERE.parent / "python" / "interpreters.sh"], capture_output=True, text=True, check=True).stdout.split()
    assert found, "no Python"
    for i, python in enumerate(found):
        (folder / str(i)).mkdir()
        python_job(folder / str(i), python, "busy", preload=i == 0)


def holds_gil(folder):
    seen, rows = python_job(folder, stage.PYTHON, "held", HOLDS_GIL)
    main = seen["threads"][0]
    assert stage.functions(main)[0] == "holds_gil", stage.functions(main)
    same_as_gdb(main, rows[main["tid"]], running=True)


def core(folder):
    """A rank that crashed: which one it was follows from its run; gdb sees the same. Another program at its path gives no wrong names."""
    rings, program = folder / "rings", folder / "stack_job"
    shutil.copy(STACK_JOB, program)
    rings.mkdir()
    path = stage.core_of(folder, [stage.COMMTRACE, "run", "-q", "-o", folder / "run", "--", program, "crashes"],
                         env={**os.environ, "RANK": "0", "WORLD_SIZE": "2", "COMMTRACE_RING_DIR": str(rings)})
    process, = stage.stacks(path)
    seen = stage.gdb(program, path)
    for thread in process["threads"]:
        same_as_gdb(thread, seen[thread["tid"]])
    first = process["threads"][0]
    assert first["died"] and stage.has_in_order(stage.functions(first), ["crashes", BARRIER, "train_step", "train_epoch", "main"]), first
    assert (process["signal"], process["signal_address"]) == (11, 16), process
    said = subprocess.run([stage.COMMTRACE, "stacks", path, folder / "run"], capture_output=True, text=True, check=True).stdout
    assert "ended by     signal 11 (SIGSEGV) at address 0x10" in said and "in Barrier #0 (entered)" in said, said
    shutil.copy(stage.BUILD / "tests" / "stacks" / "crooked", folder / "other")
    os.replace(folder / "other", program)
    process, = stage.stacks(path)
    assert process["missing"] == [f"{program} is not the file in memory: its functions have no names"], process["missing"]
    names = {frame["func"] for thread in process["threads"] for frame in stage.frames(thread) if frame["file"] == str(program)}
    assert names == {None}, names


def python_core(folder):
    path = stage.core_of(folder, [stage.PYTHON, PYTHON_JOB, "dies", folder / "where"])
    process, = stage.stacks(path)
    died, other = process["threads"]
    frames_are(folder / "where", died)
    assert stage.frames(other, "python"), other


CASES = [busy_c, frame_pointers, signal_stack, many_threads, leaderless, busy_python, holds_gil, core, python_core]


if __name__ == "__main__":
    sys.exit(stage.perform(CASES, sys.argv[1:], at_a_time=4))
