# SPDX-License-Identifier: Apache-2.0
"""An event simulator of parallel jobs: who waits for what, and what the job would take if computations had other lengths.

A job is a graph of events. An event happens when all events it needs have happened, plus its own cost:
    time = max(time of each needed event) + cost
The graph never depends on the lengths, so the same job is replayed with other lengths by other costs. A rank has one
computing stream and any number of communication streams; an operation begins when its rank has launched it and what was
launched on its stream before has ended. Nothing here knows the analyzer.
"""


class Graph:
    """Events, in the order in which they were made."""

    def __init__(self):
        self.needs, self.cost = [], []
        self.plan = None

    def event(self, needs, cost=0.0):
        self.needs.append(needs)
        self.cost.append(cost)
        return len(self.cost) - 1

    def order(self):
        """Events behind all that they need; a job that cannot end is an error of its program."""
        after, open_needs = [[] for _ in self.cost], [len(n) for n in self.needs]
        for event, needs in enumerate(self.needs):
            for other in needs:
                after[other].append(event)
        ready, self.plan = [e for e, n in enumerate(open_needs) if not n], []
        while ready:
            event = ready.pop()
            self.plan.append((event, self.needs[event]))
            for other in after[event]:
                open_needs[other] -= 1
                if not open_needs[other]:
                    ready.append(other)
        if len(self.plan) != len(self.cost):
            raise ValueError("the job waits for itself")

    def replay(self, cost):
        """When each event happens, in seconds."""
        if self.plan is None:
            self.order()
        times = [0.0] * len(cost)
        for event, needs in self.plan:
            if len(needs) == 1:
                times[event] = times[needs[0]] + cost[event]
            elif needs:
                times[event] = max([times[n] for n in needs]) + cost[event]
            else:
                times[event] = cost[event]
        return times


class Work:
    """A computation: `kind` is what computations are compared by, `row` is whose random length it has."""
    __slots__ = ("event", "rank", "kind", "step", "row")

    def __init__(self, event, rank, kind, step, row):
        self.event, self.rank, self.kind, self.step, self.row = event, rank, kind, step, row


class Launch:
    """One launch of a rank: its operations begin and end together, as a group of NCCL calls does."""
    __slots__ = ("rank", "stream", "called", "begin", "end", "ops")

    def __init__(self, rank, stream, called, begin, ops):
        self.rank, self.stream, self.called, self.begin, self.ops, self.end = rank, stream, called, begin, ops, None


class Op:
    """One operation of one rank. `meet` names what it is matched by; `peer` only of messages, `root` only of rooted ones."""
    __slots__ = ("name", "comm", "seq", "bytes", "peer", "root", "meet", "seconds")

    def __init__(self, name, comm, seq, size, seconds, peer=None, root=None, meet=None):
        self.name, self.comm, self.seq, self.bytes, self.seconds = name, comm, seq, size, seconds
        self.peer, self.root, self.meet = peer, root, meet


class Comm:
    """A communicator: its members in the order of their ranks in it."""

    def __init__(self, number, name, members):
        self.key, self.name, self.members = number, name, list(members)
        self.index = {rank: i for i, rank in enumerate(self.members)}


class Job:
    """The programs of all ranks, built call by call; `finish` connects what ranks do together."""

    def __init__(self, ranks):
        self.ranks, self.graph = ranks, Graph()
        self.now = [self.graph.event([]) for _ in range(ranks)]
        self.begun = list(self.now)  # when the last computation began: by then the host has called what follows it
        self.last = {}
        self.comms, self.work, self.launches = [], [], [[] for _ in range(ranks)]
        self.count, self.meetings = {}, {}
        self.transfers = []  # (event, class)
        self.step_ends = []  # by step: what ranks have done by its end

    def comm(self, name, members):
        self.comms.append(Comm(len(self.comms) + 1, name, members))
        return self.comms[-1]

    def compute(self, rank, kind, step, row):
        self.begun[rank] = self.now[rank]
        self.now[rank] = self.graph.event([self.now[rank]])
        self.work.append(Work(self.now[rank], rank, kind, step, row))

    def _number(self, *key):
        self.count[key] = self.count.get(key, -1) + 1
        return self.count[key]

    def collective(self, rank, comm, name, size, seconds, root=None):
        seq = self._number(rank, comm.key)
        return Op(name, comm, seq, size, seconds, root=root, meet=(comm.key, seq))

    def message(self, rank, comm, name, peer, size, seconds):
        """A Send to or a Recv from the peer, which is a rank of the world."""
        pair = (comm.index[rank], comm.index[peer])
        pair = pair if name == "Send" else pair[::-1]
        seq = self._number(rank, comm.key, name, *pair)
        return Op(name, comm, seq, size, seconds, peer=comm.index[peer], meet=(comm.key, *pair, seq))

    def launch(self, rank, stream, ops, wait=True):
        """Launch operations; `wait`: the next computation needs them."""
        before = self.last.get((rank, stream))
        begin = self.now[rank]
        if before is not None and before != begin:
            begin = self.graph.event([begin, before])
        launch = Launch(rank, stream, self.begun[rank], begin, ops)
        launch.end = self.graph.event([begin])
        self.last[rank, stream] = launch.end
        self.launches[rank].append(launch)
        for op in ops:
            self.meetings.setdefault(op.meet, []).append((launch, op))
        if wait:
            self.now[rank] = launch.end  # it does not begin before what the rank has done so far
        return launch

    def wait(self, rank, launch):
        self.now[rank] = self.graph.event([self.now[rank], launch.end])

    def end_step(self, rank, step):
        """The rank's operations so far are those of this step and of the ones before."""
        if step == len(self.step_ends):
            self.step_ends.append([])
        self.step_ends[step].append(self.now[rank])

    def _transfer(self, needs, op, size):
        event = self.graph.event(needs)
        self.transfers.append((event, (op.name if op.peer is None else "Message", op.bytes, size, op.seconds)))
        return event

    def finish(self):
        """Make what ranks do together: every rank waits for every rank, but in rooted operations and eager messages."""
        for members in self.meetings.values():
            op = members[0][1]
            begins = [launch.begin for launch, _ in members]
            if op.root is None:
                done = self._transfer(begins, op, len(members))
                for launch, _ in members:
                    self.graph.needs[launch.end].append(done)
                continue
            root = next(launch for launch, o in members if o.comm.index[launch.rank] == op.root)
            for launch, _ in members:
                if op.name == "Broadcast":  # every rank waits for the root alone
                    done = self._transfer([launch.begin, root.begin], op, len(members))
                else:  # the root waits for every rank, no one else waits
                    done = self._transfer(begins if launch is root else [launch.begin], op, len(members))
                self.graph.needs[launch.end].append(done)
        self.graph.order()
