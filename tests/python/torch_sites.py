# SPDX-License-Identifier: Apache-2.0
"""torch_sites.py OUT: a job of torch over Gloo whose rank 0 saves a checkpoint in a barrier while the others are in another
one. Each call's site goes to OUT.RANK: the line of the program, whatever of torch is in between."""
import os
import sys

import torch
import torch.distributed as dist

want = open(sys.argv[1] + "." + os.environ["RANK"], "w", encoding="utf-8")


def note():
    frame = sys._getframe(1)
    name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
    print("%s:%d %s" % (frame.f_code.co_filename, frame.f_lineno, name), file=want)


def save_checkpoint():
    note(); dist.barrier()


def finalize():
    note(); dist.barrier()


class Trainer:
    def __init__(self):
        self.model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))

    @torch.no_grad()
    def average(self, loss):
        note(); dist.all_reduce(loss)
        return loss

    def step(self, data):
        loss = self.model(data).sum()
        note(); loss.backward()
        return self.average(loss)


dist.init_process_group("gloo")
data = torch.ones(3, 4)
trainer = Trainer()
marker = torch.zeros(1)
print("-", file=want)
dist.all_reduce(marker)
for _ in range(3):
    trainer.step(data)
if dist.get_rank() == 0:
    save_checkpoint()
else:
    finalize()
note(); works = [dist.all_reduce(data, async_op=True)]
for work in works:
    work.wait()
if dist.get_rank() == 0:
    note(); dist.send(data, 1)
elif dist.get_rank() == 1:
    note(); dist.recv(data, 0)
want.close()
dist.destroy_process_group()
