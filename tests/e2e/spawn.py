# SPDX-License-Identifier: Apache-2.0
"""spawn.py PROGRAM RANKS PORT ARGUMENT...: the ranks of a torch program by torch.multiprocessing.spawn."""
import os
import runpy
import sys

import torch.multiprocessing


def rank(index, program, ranks, port, arguments):
    os.environ.update(RANK=str(index), LOCAL_RANK=str(index), WORLD_SIZE=ranks, MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    sys.argv = [program, *arguments]
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise


if __name__ == "__main__":
    program, ranks, port, *arguments = sys.argv[1:]
    torch.multiprocessing.spawn(rank, (program, ranks, port, arguments), int(ranks))
