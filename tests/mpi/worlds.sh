#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Worlds that are started or met (worlds.c): what a world has in itself has one key on its ranks; no two worlds have a key in
# common, also not for what both are members of, since neither knows the other's ranks; and a communicator between two groups
# of one world is like any.
. "$(dirname "$0")/mpi.sh"
# Shared memory is for one world.
export OMPI_MCA_btl=self,vader,tcp
mkdir reported
COMMTRACE_JOB=one mpi_traced 60 2 "$work/run" "$(mpi_program worlds)" "$work/reported" 2>stderr ||
	fail "traced: exit $?: $(tail -n 5 stderr)"
[ "$(cat reported/parents reported/children | sort -u | wc -l)" = 4 ] || fail "not two and two ranks"
"$commtrace" dump --format jsonl run >dump.jsonl 2>warnings

"$python" - dump.jsonl reported <<-'EOF'
	import collections, json, sys
	dump, reported = sys.argv[1:]
	world = {int(pid): name for name in ("parents", "children") for pid in open(f"{reported}/{name}")}
	keys = collections.defaultdict(set)  # (world, what) -> keys
	members = collections.defaultdict(set)  # key -> (index, size)
	for line in open(dump):
	    op = json.loads(line)
	    if op["call"] in ("MPI_Allreduce", "MPI_Sendrecv"):
	        keys[world[op["pid"]], op["count"]].add(op["comm"])
	        members[op["comm"]].add((op["comm_rank"], op["nranks"]))
	assert set(keys) == {("parents", n) for n in (2, 3, 4, 5)} | {("children", n) for n in (2, 3, 4)}, keys
	assert all(len(k) == 1 for k in keys.values()), keys
	key = {at: next(iter(k)) for at, k in keys.items()}
	assert len(set(key.values())) == len(key), key
	assert members[key["parents", 2]] == members[key["children", 2]] == {(0, 2), (1, 2)}, members
	for n in 3, 4:
	    both = members[key["parents", n]], members[key["children", n]]
	    assert all(size == 4 for side in both for _, size in side), both
	assert members[key["parents", 4]] == {(0, 4), (1, 4)} and members[key["children", 4]] == {(2, 4), (3, 4)}, members
	assert members[key["parents", 5]] == {(0, 2), (1, 2)}, members
	print(len(key), "communicators of two worlds")
EOF
