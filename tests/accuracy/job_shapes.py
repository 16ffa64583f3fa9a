# SPDX-License-Identifier: Apache-2.0
"""The programs of the simulated jobs: what each rank computes and which operations it launches, step by step.

A shape is a function (job, config): config is described in lateness_jobs.py. It sets job.stage (the stage of each rank),
job.data (its index among the ranks of its stage) and job.group (ranks that compute in lockstep, such as a tensor group).
"""

US = 1e-6
SMALL = 8  # bytes of an operation that only synchronizes
DATA_STREAM, FORWARD_SEND, FORWARD_RECV, BACKWARD_SEND, BACKWARD_RECV, TENSOR_STREAM, PIPE_STREAM, WORLD_STREAM = range(1, 9)


def one_stage(job):
    job.stage = [0] * job.ranks
    job.data = list(range(job.ranks))
    job.group = [[r] for r in range(job.ranks)]


def evaluates(config, step):
    return config["evaluate_every"] and step % config["evaluate_every"] == config["evaluate_every"] - 1


def extra(job, config, comm, rank, step):
    """What only some ranks do: an operation by itself on a communicator of their own."""
    if comm and rank in comm.index and step % config["extra_every"] == 0:
        job.launch(rank, DATA_STREAM, [job.collective(rank, comm, "AllReduce", 64, 20 * US)])


def data_parallel(job, config):
    """Accumulated microbatches, a backward pass in buckets, each all-reduced behind the next one or after all of them."""
    one_stage(job)
    world = job.comm("world", range(job.ranks))
    others = job.comm("extra", config["extra_ranks"]) if config["extra_ranks"] else None
    buckets, seconds = config["buckets"], config["transfer_ms"] / 1e3 / config["buckets"]
    for rank in range(job.ranks):
        for step in range(config["steps"]):
            for micro in range(config["accumulate"] - 1):
                job.compute(rank, "accumulate", step, (step, rank, micro))
            job.compute(rank, "forward", step, (step, rank, -1))
            extra(job, config, others, rank, step)
            waits = []
            for bucket in range(buckets):
                job.compute(rank, f"backward {bucket}", step, (step, rank, -1))
                op = job.collective(rank, world, "AllReduce", 4 << 20 | bucket << 12, seconds)
                waits.append(job.launch(rank, DATA_STREAM, [op], wait=not config["overlap"]))
            for launch in waits if config["overlap"] else []:
                job.wait(rank, launch)
            job.end_step(rank, step)
            job.compute(rank, "optimizer", step, (step, rank, -1))
            if evaluates(config, step):
                job.compute(rank, "evaluation", step, (step, rank, -2))
                job.launch(rank, DATA_STREAM, [job.collective(rank, world, "AllReduce", SMALL, 20 * US)])


class Grid:
    """Ranks of stages x data x tensor, their communicators and their messages."""

    def __init__(self, job, config):
        self.job, self.config = job, config
        self.stages, self.rows, self.tensor = config["stages"], config["data"], config["tensor"]
        stages, rows, tensor = self.stages, self.rows, self.tensor
        if job.ranks != stages * rows * tensor:
            raise ValueError("ranks are not stages x data x tensor")
        job.stage = [r // (rows * tensor) for r in range(job.ranks)]
        job.data = [r % (rows * tensor) for r in range(job.ranks)]
        self.tensor_of, self.data_of, self.pipe_of = {}, {}, {}
        job.group = []
        for stage in range(stages):
            for row in range(rows):
                members = [self.rank(stage, row, t) for t in range(tensor)]
                job.group.append(members)
                if tensor > 1:
                    self._put(self.tensor_of, "tensor", members)
            for t in range(tensor):
                if rows > 1:
                    self._put(self.data_of, "data", [self.rank(stage, row, t) for row in range(rows)])
        for row in range(rows):
            for t in range(tensor):
                self._put(self.pipe_of, "pipeline", [self.rank(stage, row, t) for stage in range(stages)])
        self.world = job.comm("world", range(job.ranks)) if config["world_sync"] else None
        self.extra = job.comm("extra", config["extra_ranks"]) if config["extra_ranks"] else None

    def _put(self, where, name, members):
        comm = self.job.comm(name, members)
        for rank in members:
            where[rank] = comm

    def rank(self, stage, row, tensor):
        return (stage * self.rows + row) * self.tensor + tensor

    def row(self, rank):
        return rank // self.tensor % self.rows

    def compute(self, rank, kind, step, micro):
        """A pass over one microbatch: its length is random for the whole pipeline; layers end with tensor collectives."""
        job, row = self.job, (step, self.row(rank), micro)
        layers = self.config["layers"] if self.tensor > 1 else 1
        for layer in range(layers):
            job.compute(rank, f"{kind} {layer}", step, row)
            if self.tensor > 1:
                job.launch(rank, TENSOR_STREAM, [job.collective(rank, self.tensor_of[rank], "AllReduce", 1 << 20, 50 * US)])

    def message(self, rank, name, stage):
        peer = rank + (stage - self.job.stage[rank]) * self.rows * self.tensor
        return self.job.message(rank, self.pipe_of[rank], name, peer, 8 << 20, self.config["message_us"] * US)

    def step_end(self, rank, step):
        """Gradients of a stage, the norm of the whole world, the optimizer."""
        job, config = self.job, self.config
        if rank in self.data_of:
            op = job.collective(rank, self.data_of[rank], "AllReduce", 64 << 20, config["transfer_ms"] / 1e3)
            job.launch(rank, DATA_STREAM, [op])
        if self.extra:
            extra(job, config, self.extra, rank, step)
        if self.world:
            job.launch(rank, WORLD_STREAM, [job.collective(rank, self.world, "AllReduce", SMALL, 30 * US)])
        job.end_step(rank, step)
        job.compute(rank, "optimizer", step, (step, self.row(rank), -1))

    def micros(self, step, row):
        counts = self.config["uneven"]
        return counts[hash((self.config["seed"], step, row)) % len(counts)] if counts else self.config["microbatches"]


def forward_pipeline(job, config):
    """Microbatches go through the stages once; a barrier of all ends the step."""
    grid = Grid(job, config)
    for rank in range(job.ranks):
        stage = job.stage[rank]
        for step in range(config["steps"]):
            for micro in range(grid.micros(step, grid.row(rank))):
                if stage > 0:
                    job.launch(rank, PIPE_STREAM, [grid.message(rank, "Recv", stage - 1)])
                grid.compute(rank, "forward", step, micro)
                if stage < grid.stages - 1:
                    job.launch(rank, PIPE_STREAM, [grid.message(rank, "Send", stage + 1)])
            grid.step_end(rank, step)


def one_f_one_b(job, config):
    """One forward, one backward, with the messages of a turn in one group of calls, as Megatron sends them."""
    grid = Grid(job, config)
    for rank in range(job.ranks):
        stage, last = job.stage[rank], grid.stages - 1

        def turn(*messages):
            ops = [grid.message(rank, name, peer) for name, peer in messages if 0 <= peer <= last]
            if ops:
                job.launch(rank, PIPE_STREAM, ops)

        for step in range(config["steps"]):
            count = grid.micros(step, grid.row(rank))
            ahead = min(last - stage, count)
            for micro in range(ahead):
                turn(("Recv", stage - 1))
                grid.compute(rank, "forward", step, micro)
                turn(("Send", stage + 1))
            if ahead < count:
                turn(("Recv", stage - 1))
            for micro in range(ahead, count):
                grid.compute(rank, "forward", step, micro)
                turn(("Send", stage + 1), ("Recv", stage + 1))
                grid.compute(rank, "backward", step, micro - ahead)
                if micro < count - 1:
                    turn(("Send", stage - 1), ("Recv", stage - 1))
                else:
                    turn(("Send", stage - 1))
            for micro in range(count - ahead, count):
                turn(("Recv", stage + 1))
                grid.compute(rank, "backward", step, micro)
                turn(("Send", stage - 1))
            grid.step_end(rank, step)


def one_f_one_b_streams(job, config):
    """The same schedule, each direction on a stream of its own: sending does not hold up computing."""
    _interleaved(job, config, 1)


def interleaved(job, config):
    """Megatron's interleaved schedule: each rank holds `virtual` chunks of layers, messages go round the ring of stages."""
    if config["stages"] < 3 or config["microbatches"] % config["stages"] or config["uneven"]:
        raise ValueError("interleaving needs three stages, and microbatches in whole rounds of them")
    _interleaved(job, config, config["virtual"])


def _interleaved(job, config, chunks):
    grid = Grid(job, config)
    stages = grid.stages
    for rank in range(job.ranks):
        stage = job.stage[rank]

        def turn_of(k, forward):
            chunk, micro = k % (stages * chunks) // stages, k // (stages * chunks) * stages + k % stages
            if chunks == 1:
                chunk, micro = 0, k
            return chunk if forward else chunks - 1 - chunk, micro

        def step_of(k, forward, step):
            """Receive, compute, send one microbatch of one chunk."""
            chunk, micro = turn_of(k, forward)
            first, end = (0, stages - 1) if forward else (stages - 1, 0)
            on = 1 if forward else -1
            first_chunk, end_chunk = (0, chunks - 1) if forward else (chunks - 1, 0)
            if (stage, chunk) != (first, first_chunk):
                stream = FORWARD_RECV if forward else BACKWARD_RECV
                job.launch(rank, stream, [grid.message(rank, "Recv", (stage - on) % stages)])
            grid.compute(rank, "forward" if forward else "backward", step, micro)
            if (stage, chunk) != (end, end_chunk):
                stream = FORWARD_SEND if forward else BACKWARD_SEND
                job.launch(rank, stream, [grid.message(rank, "Send", (stage + on) % stages)], wait=False)

        for step in range(config["steps"]):
            total = grid.micros(step, grid.row(rank)) * chunks
            ahead = min((stages - stage - 1) * 2 + (chunks - 1) * stages if chunks > 1 else stages - stage - 1, total)
            for k in range(ahead):
                step_of(k, True, step)
            for k in range(ahead, total):
                step_of(k, True, step)
                step_of(k - ahead, False, step)
            for k in range(total - ahead, total):
                step_of(k, False, step)
            for stream in (FORWARD_SEND, BACKWARD_SEND):
                if (rank, stream) in job.last:
                    job.now[rank] = job.graph.event([job.now[rank], job.last[rank, stream]])
            grid.step_end(rank, step)


def stencil(job, config):
    """A grid of rows x columns: each exchange is one group of messages with up to four neighbours, then all reduce."""
    one_stage(job)
    rows, columns = config["rows"], job.ranks // config["rows"]
    job.group = [[row * columns + c for c in range(columns)] for row in range(rows)]
    world = job.comm("world", range(job.ranks))
    for rank in range(job.ranks):
        row, column = divmod(rank, columns)
        near = [(row + y, column + x) for y, x in ((-1, 0), (0, -1), (0, 1), (1, 0))]
        near = [y * columns + x for y, x in near if 0 <= y < rows and 0 <= x < columns]
        for step in range(config["steps"]):
            for _ in range(config["exchanges"]):
                job.compute(rank, "sweep", step, (step, rank, -1))
                ops = [job.message(rank, world, name, peer, 1 << 20, config["message_us"] * US)
                       for peer in near for name in ("Send", "Recv")]
                job.launch(rank, PIPE_STREAM, ops)
            job.compute(rank, "norm", step, (step, rank, -2))
            job.launch(rank, PIPE_STREAM, [job.collective(rank, world, "AllReduce", SMALL, 20 * US)])
            job.end_step(rank, step)


def rooted(job, config):
    """A root hands out work and collects it: Broadcast, compute, Reduce; leaves wait for it, it waits for them."""
    one_stage(job)
    world = job.comm("world", range(job.ranks))
    root = config["root"]
    for rank in range(job.ranks):
        for step in range(config["steps"]):
            job.launch(rank, DATA_STREAM, [job.collective(rank, world, "Broadcast", 1 << 20, 200 * US, root=root)])
            job.compute(rank, "work", step, (step, rank, -1))
            job.launch(rank, DATA_STREAM, [job.collective(rank, world, "Reduce", 1 << 20, 200 * US, root=root)])
            job.end_step(rank, step)
            if rank == root:
                job.compute(rank, "collect", step, (step, rank, -2))


def outside_partner(job, config):
    """All but the last rank all-reduce; the last one feeds rank 0 by messages and is in no collective."""
    one_stage(job)
    feeder = job.ranks - 1
    inner, pair = job.comm("inner", range(feeder)), job.comm("pair", [0, feeder])
    for step in range(config["steps"]):
        for rank in range(feeder):
            if rank == 0:
                job.launch(0, PIPE_STREAM, [job.message(0, pair, "Recv", feeder, 1 << 20, 100 * US)])
            job.compute(rank, "work", step, (step, rank, -1))
            job.launch(rank, DATA_STREAM, [job.collective(rank, inner, "AllReduce", 4 << 20, 500 * US)])
            job.end_step(rank, step)
        job.compute(feeder, "work", step, (step, feeder, -1))
        job.launch(feeder, PIPE_STREAM, [job.message(feeder, pair, "Send", 0, 1 << 20, 100 * US)])


SHAPES = {"data_parallel": data_parallel, "forward": forward_pipeline, "1f1b": one_f_one_b, "1f1b_streams": one_f_one_b_streams,
          "interleaved": interleaved, "stencil": stencil, "rooted": rooted, "outside": outside_partner}
