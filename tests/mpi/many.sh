#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# More requests than there is room for (many.c). What is not on record is counted, and then no bytes of the matrix are said
# to be exact; messages that follow are matched with none rather than with another. And threads that wait for many requests
# at the same time all learn when these ended.
. "$(dirname "$0")/mpi.sh"
program=$(mpi_program many)

mpi_traced 60 2 "$work/run" "$program" persistent 2>stderr || fail "persistent: exit $?: $(tail -n 3 stderr)"
"$commtrace" dump --format jsonl run >dump.jsonl
"$commtrace" report --format json run >report.json
"$python" - <<'P' || fail "what had no space was not reported"
import json

ops = [json.loads(line) for line in open("dump.jsonl")]
lost = [l for l in json.load(open("report.json"))["dropped"] if l["reason"] == "STARTS_LOST"]
lost = sum(l["records"] for l in lost)
started = sum(o["call"] in ("MPI_Start", "MPI_Startall", "MPI_Recv_init") for o in ops)
assert lost > 0 and started + lost == 20, (lost, started)
traffic = json.load(open("report.json"))["traffic"]
assert traffic["model"] is None and not traffic["matrix"], traffic
sent = {o["peer_seq"]: o["bytes"] for o in ops if o["op"] == "Send"}
assert sorted(sent.values()) == list(range(1, 71)), sent
for o in ops:
    if o["op"] == "Recv" and o["call"] == "MPI_Recv":
        assert o["peer_seq"] not in sent or sent[o["peer_seq"]] == o["bytes"], o
P

mpi_traced 60 2 "$work/threads" "$program" threads 2>stderr || fail "threads: exit $?: $(tail -n 3 stderr)"
"$commtrace" dump --format jsonl threads >dump.jsonl
"$commtrace" report --format json threads >report.json
"$python" - <<'P' || fail "ends of what threads waited for are missing"
import json

ops = [json.loads(line) for line in open("dump.jsonl")]
ops = [o for o in ops if o["call"] in ("MPI_Isend", "MPI_Irecv")]
assert len(ops) == 2 * 8 * 200, len(ops)
bad = [o for o in ops if o["end_ns"] is None or o["peer"] is None or o["peer"] < 0]
assert not bad, (len(bad), bad[0])
assert "REQUESTS_FULL" not in open("report.json").read()
P

# Operations whose ends had no space are all on record, and the last lines of `run` and the first line of `info` say what is not.
timeout -k 5 240 "$commtrace" run -o open -- "mpirun.$flavour" -n 2 "$program" open 2>stderr ||
	fail "open: exit $?: $(tail -n 3 stderr)"
ends=$("$commtrace" report --format json open | "$python" -c '
import json, sys
print(sum(l["records"] for l in json.load(sys.stdin)["dropped"] if l["reason"] == "OPEN_TABLE_FULL"))')
[ "$ends" -gt 0 ] || fail "all had room"
grep -q " operations, no dropped records, the ends of $ends not recorded\$" stderr || fail "not said at the end: $(tail -n 3 stderr)"
"$commtrace" info open >info.txt
grep -q "^complete, the ends of $ends operations not recorded: " info.txt || fail "not said by info: $(head -n 1 info.txt)"

# While one call starts them all, its ops are all open. Open MPI takes long to find so many messages.
if [ "$flavour" = mpich ]; then
	COMMTRACE_RING_MB=64 	mpi_traced 60 2 "$work/startall" "$program" startall 2>stderr || fail "startall: exit $?: $(tail -n 3 stderr)"
	"$commtrace" report startall >report.txt
	! grep "could not be written" report.txt || fail "so many open ops are more than a block holds"
fi
