# SPDX-License-Identifier: Apache-2.0
"""matrix_mpi4py.py JOURNAL_DIRECTORY, 4 ranks: what Python calls by mpi4py, and what it writes down of it (matrix_journal.h).
Rank 0 prints `result checksum=HEX`."""
import sys
import zlib
from array import array

import mpi4py

mpi4py.rc.threads = False  # Open MPI 4.1 has no windows for several threads without the help of the network's
from mpi4py import MPI  # noqa: E402

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size
lines, ops, results = [], [], []


def note(call, op, comm, count=0, width=0, dtype="-", redop="-", root=-1, peer=-1, tag=-1, arrived=-1):
    fields = (0, "MPI_" + call, op, comm, count, count * width, dtype, redop, root, peer, tag, arrived, "finished")
    ops.append(len(lines))
    lines.append("op\t" + "\t".join(map(str, fields)))


def note_comm(name, comm, mine, other=()):
    lines.append("\t".join(["comm", name, str(comm), ",".join(map(str, mine)), ",".join(map(str, other))]))


def ints(n, start=0):
    return array("i", (start + 10 * rank + i for i in range(n)))


def doubles(n):
    return array("d", (rank + i / 2 for i in range(n)))


def keep(*buffers):
    results.extend(bytes(b) if isinstance(b, array) else repr(b).encode() for b in buffers)


def collectives(comm, name):
    counts = [1 + i % 3 for i in range(size)]
    offsets = [sum(counts[:i]) for i in range(size)]
    mine, a, b, x, y = counts[rank], ints(16), ints(64, 500), doubles(8), doubles(8)
    note("Barrier", "Barrier", name)
    comm.Barrier()
    note("Bcast", "Broadcast", name, 5, 4, "int32", root=1)
    comm.Bcast([b, 5, MPI.INT], root=1)
    note("Gather", "Gather", name, 3, 4, "int32", root=0)
    comm.Gather([a, 3, MPI.INT], [b, 3, MPI.INT], root=0)
    note("Scatterv", "Scatter", name, mine, 4, "int32", root=2)
    comm.Scatterv([a, counts, offsets, MPI.INT], [b, mine, MPI.INT], root=2)
    note("Allgather", "AllGather", name, 2, 4, "int32")
    comm.Allgather(MPI.IN_PLACE, [b, 2, MPI.INT])
    note("Allgatherv", "AllGather", name, mine, 4, "int32")
    comm.Allgatherv([a, mine, MPI.INT], [b, counts, offsets, MPI.INT])
    note("Alltoall", "AllToAll", name, 2, 4, "int32")
    comm.Alltoall([a, 2, MPI.INT], [b, 2, MPI.INT])
    note("Alltoallv", "AllToAll", name, sum(counts), 4, "int32")
    comm.Alltoallv([a, counts, offsets, MPI.INT], [b, [mine] * size, [mine * i for i in range(size)], MPI.INT])
    note("Allreduce", "AllReduce", name, 8, 8, "float64", "sum")
    comm.Allreduce([x, MPI.DOUBLE], [y, MPI.DOUBLE], op=MPI.SUM)
    note("Reduce", "Reduce", name, 4, 4, "int32", "max", root=1)
    comm.Reduce([a, 4, MPI.INT], [b, 4, MPI.INT], op=MPI.MAX, root=1)
    note("Reduce_scatter", "ReduceScatter", name, mine, 4, "int32", "sum")
    comm.Reduce_scatter([a, sum(counts), MPI.INT], [b, mine, MPI.INT], recvcounts=counts, op=MPI.SUM)
    note("Scan", "Scan", name, 3, 4, "int32", "sum")
    comm.Scan([a, 3, MPI.INT], [b, 3, MPI.INT])
    keep(b, y)
    note("Iallreduce", "AllReduce", name, 4, 4, "int32", "sum")
    request = comm.Iallreduce([a, 4, MPI.INT], [b, 4, MPI.INT])
    note("Ibarrier", "Barrier", name)
    MPI.Request.Waitall([request, comm.Ibarrier()])
    keep(b)


def messages(comm, name):
    a, b, x = ints(16), ints(16, 300), doubles(8)
    note("Irecv", "Recv", name, 16, 4, "int32", peer=left, tag=3, arrived=20)
    receive = comm.Irecv([b, 16, MPI.INT], source=left, tag=3)
    note("Isend", "Send", name, 5, 4, "int32", peer=right, tag=3)
    send = comm.Isend([a, 5, MPI.INT], dest=right, tag=3)
    status = MPI.Status()
    while not receive.Test(status):
        pass
    send.Wait()
    keep(b, status.Get_source(), status.Get_count(MPI.INT))
    note("Sendrecv", "Send", name, 8, 8, "float64", peer=left, tag=4)
    note("Sendrecv", "Recv", name, 8, 8, "float64", peer=right, tag=4)
    comm.Sendrecv([doubles(8), MPI.DOUBLE], dest=left, sendtag=4, recvbuf=[x, MPI.DOUBLE], source=right, recvtag=4)
    comm.Send([a, MPI.INT], dest=MPI.PROC_NULL)
    keep(x)
    # from anyone, as it comes
    if rank == 0:
        for _ in range(1, size):
            comm.Recv([b, 16, MPI.INT], source=MPI.ANY_SOURCE, tag=5, status=status)
            note("Recv", "Recv", name, 16, 4, "int32", peer=status.Get_source(), tag=5, arrived=4 * status.Get_source())
    else:
        note("Send", "Send", name, rank, 4, "int32", peer=0, tag=5)
        comm.Send([a, rank, MPI.INT], dest=0, tag=5)
    persistent(comm, name)


def persistent(comm, name):
    a, b = ints(4), ints(4, 700)
    pair = [comm.Recv_init([b, MPI.INT], source=left, tag=6), comm.Send_init([a, MPI.INT], dest=right, tag=6)]
    for _ in range(2):
        note("Recv_init", "Recv", name, 4, 4, "int32", peer=left, tag=6)
        note("Send_init", "Send", name, 4, 4, "int32", peer=right, tag=6)
        MPI.Prequest.Startall(pair)
        MPI.Request.Waitall(pair)
        keep(b)
    for request in pair:
        request.Free()


def objects(comm, name):
    """Pickled: mpi4py asks how much comes before it receives."""
    thing = {"rank": rank, "words": ["all", "of", "them"] * (rank + 1)}
    length = [len(MPI.pickle.dumps({**thing, "rank": r, "words": ["all", "of", "them"] * (r + 1)})) for r in range(size)]
    if rank % 2 == 0:
        note("Send", "Send", name, length[rank], 1, "elem1", peer=right, tag=7)
        comm.send(thing, dest=right, tag=7)
    else:
        note("Mrecv", "Recv", name, length[left], 1, "elem1", peer=left, tag=7)
        keep(comm.recv(source=left, tag=7))


def communicators():
    odd = rank % 2
    half = world.Split(odd, -rank)
    members = [[2, 0], [3, 1]][odd]
    note_comm("odd" if odd else "even", half.Get_rank(), members)
    note("Bcast", "Broadcast", "odd" if odd else "even", 3, 4, "int32", root=1)
    b = ints(3)
    half.Bcast([b, MPI.INT], root=1)
    inter = half.Create_intercomm(0, world, 2 + (1 - odd))
    note_comm("inter", half.Get_rank(), members, [[3, 1], [2, 0]][odd])
    note("Barrier", "Barrier", "inter")
    inter.Barrier()
    ring = world.Create_cart([size], periods=[True])
    note_comm("ring", rank, range(size))
    note("Neighbor_alltoall", "NeighborAllToAll", "ring", 2, 4, "int32")
    c = ints(4)
    ring.Neighbor_alltoall([ints(4), 2, MPI.INT], [c, 2, MPI.INT])
    copy = world.Dup()
    note_comm("copy", rank, range(size))
    collectives(copy, "copy")
    keep(b, c)
    for comm in (inter, half, copy, ring):
        comm.Free()


def window():
    memory = array("i", [0] * 8)
    win = MPI.Win.Create(memory, 4, comm=world)
    note_comm("window", rank, range(size))
    for i in range(2):
        note("Win_fence", "Fence", "window")
        win.Fence()
        if i == 0:
            note("Put", "Put", "window", 3, 4, "int32", peer=right)
            win.Put([ints(3), MPI.INT], right, target=[2, 3, MPI.INT])
    keep(memory)
    win.Free()


note_comm("world", rank, range(size))
collectives(world, "world")
messages(world, "world")
objects(world, "world")
communicators()
window()
checksum = array("L", [zlib.crc32(b"".join(results))])
total = array("L", [0])
note("Reduce", "Reduce", "world", 1, 8, "uint64", "sum", root=0)
world.Reduce([checksum, MPI.UNSIGNED_LONG], [total, MPI.UNSIGNED_LONG], root=0)
if rank == 0:
    print(f"result checksum={total[0]:016x}", flush=True)
with open(f"{sys.argv[1]}/{rank}.journal", "w", encoding="ascii") as journal:
    journal.write("\n".join(lines) + f"\nend\t{len(ops)}\n")
