# SPDX-License-Identifier: Apache-2.0
"""spawn.py PROGRAM RANKS PORT ARGUMENT...: the ranks of a torch program by torch.multiprocessing.spawn. With CT_LATE_MS the last one comes so
late to each all_reduce of several elements."""
import os
import runpy
import sys
import time

import torch.distributed
import torch.multiprocessing


def come_late(ms):
    in_time = torch.distributed.all_reduce

    def late(tensor, *more):
        time.sleep(ms / 1000 if tensor.numel() > 1 else 0)
        return in_time(tensor, *more)

    torch.distributed.all_reduce = late


def rank(index, program, ranks, port, arguments):
    os.environ.update(RANK=str(index), LOCAL_RANK=str(index), WORLD_SIZE=ranks, MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    sys.argv = [program, *arguments]
    if index == int(ranks) - 1:
        come_late(float(os.environ.get("CT_LATE_MS", 0)))
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise


if __name__ == "__main__":
    program, ranks, port, *arguments = sys.argv[1:]
    torch.multiprocessing.spawn(rank, (program, ranks, port, arguments), int(ranks))
