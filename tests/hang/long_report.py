#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Of a long run on two hosts, do `commtrace hang` and `commtrace report` say the same, errors of times included?

Both read tails then. Whoever reads everything relates the clocks better, and says another error.
"""
import os
import subprocess
import sys
import tempfile

import jobs
import same_answer

RUN = ("--workload ddp --hosts 2 --gpus-per-host 2 --clock-offset-ms 5 --clock-drift-ppm 10 --steps 9000 "
       "--fault missing:rank=1,op=60000").split()


def main():
    programs = os.path.join(jobs.build_dir(), "bin")
    commtrace = os.path.join(programs, "commtrace")
    with tempfile.TemporaryDirectory(prefix="commtrace-hang.") as folder:
        run = os.path.join(folder, "run")
        subprocess.run([os.path.join(programs, "commtrace-synth"), "-o", run, *RUN], check=True)
        hang = same_answer.ask([commtrace, "hang", "--format=json", run])
        whole = same_answer.ask([commtrace, "hang", "--format=json", "--whole", run])
        if hang["verdicts"] == whole["verdicts"]:
            sys.exit("tails tell what everything tells: the run does not tell them apart")
        try:
            same_answer.hold(commtrace, run, hang)
        except same_answer.Differ as e:
            sys.exit(str(e))


if __name__ == "__main__":
    main()
