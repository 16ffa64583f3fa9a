# SPDX-License-Identifier: Apache-2.0
"""mark_job.py STEPS SAMPLES PAUSE_MS FOLDER: ranks of torchrun that sum a tensor over Gloo in each step, pause, and mark the step with their samples.
Each writes to FOLDER/RANK between which two moments of its own clock each mark was made."""
import json
import pathlib
import sys
import time

import commtrace
import torch
import torch.distributed as dist

steps, samples, pause_ms = (int(word) for word in sys.argv[1:4])
dist.init_process_group("gloo")
value = torch.ones(1024)
made = []
for odd in (None, float("nan"), "three", 2.0):  # what is no number is left out, and 0 samples add nothing
    commtrace.mark(odd, None)
for step in range(steps):
    dist.all_reduce(value)
    time.sleep(pause_ms / 1000)
    before = time.monotonic()
    commtrace.mark(step, samples)
    made.append((before, time.monotonic()))
(pathlib.Path(sys.argv[4]) / str(dist.get_rank())).write_text(json.dumps(made))
dist.destroy_process_group()
