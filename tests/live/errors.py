#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The alert rule on errors beside a real job: two ranks of Open MPI begin to send to a rank that does not exist, go on, and that is an alert.
Before, nothing is."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from live import BIN, check, main, wait_for

JOB = """
import pathlib, sys, time
from mpi4py import MPI
comm, data, folder = MPI.COMM_WORLD, bytearray(64), pathlib.Path(sys.argv[1])
while not (folder / "end").exists():
    for _ in range(5):
        comm.Bcast(data, root=0)
    if (folder / "fail").exists():
        try:
            comm.Send(data, dest=99)
        except MPI.Exception:
            pass
    time.sleep(0.02)
MPI.COMM_WORLD.Abort(0)
"""


def failing_calls_are_an_alert():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ct-errors-"))
    (folder / "rings").mkdir()
    env = dict(os.environ, COMMTRACE_RING_DIR=str(folder / "rings"), COMMTRACE_QUIET="1", COMMTRACE_FLUSH="500ms", TMPDIR=str(folder),
               OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
               OMPI_MCA_mpi_yield_when_idle="1")
    words = [word for name in ("LD_PRELOAD", "COMMTRACE_DIR", "COMMTRACE_RING_DIR", "COMMTRACE_FLUSH") for word in ("-x", name)]
    job = subprocess.Popen([BIN / "commtrace", "run", "-q", "-o", folder / "run", "--", "mpirun.openmpi", "-n", "2", *words, sys.executable, "-c",
                            JOB, folder], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    watch = None
    try:
        wait_for("a record", lambda: len(list(folder.glob("run/*.seg"))) == 2)
        with open(folder / "said", "w") as out:
            watch = subprocess.Popen([BIN / "commtrace", "watch", folder / "run", "--interval=1", "--alert-window=2", "--first"], env=env,
                                     stdout=out)
        time.sleep(3)  # a window without errors
        check(watch.poll() is None, "before: " + (folder / "said").read_text())
        (folder / "fail").touch()
        check(watch.wait(60) == 3, "watch ended with another status")
        check(" errors " in (folder / "said").read_text() and " of operations failed (" in (folder / "said").read_text(),
              (folder / "said").read_text())
    finally:
        (folder / "end").touch()
        for process in (watch, job):
            if process:
                process.terminate()
                process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main([failing_calls_are_an_alert])
