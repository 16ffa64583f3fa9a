# SPDX-License-Identifier: Apache-2.0
"""mark_job.py STEPS SAMPLES PAUSE_MS: ranks of torchrun that sum a tensor over Gloo in each step, pause, and mark the step with their samples.
Rank 0 prints the samples per second of all ranks, by its own clock, from the first mark to the last."""
import sys
import time

import commtrace
import torch
import torch.distributed as dist

steps, samples, pause_ms = (int(word) for word in sys.argv[1:4])
dist.init_process_group("gloo")
value = torch.ones(1024)
begin = end = None
for odd in (None, float("nan"), "three", 2.0):  # what is no number is left out, and 0 samples add nothing
    commtrace.mark(odd, None)
for step in range(steps):
    dist.all_reduce(value)
    time.sleep(pause_ms / 1000)
    commtrace.mark(step, samples)
    end = time.monotonic()
    begin = begin or end
if dist.get_rank() == 0:
    print((steps - 1) * samples * dist.get_world_size() / (end - begin))
dist.destroy_process_group()
