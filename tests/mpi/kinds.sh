#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Communicators of every kind, windows and what is one-sided (kinds.c): each has one key on all its members and no other has
# it, with index, size, name and parent; messages between groups meet; every call that may wait is on record once.
. "$(dirname "$0")/mpi.sh"
program=$(mpi_program kinds)
# Another component hangs in MPI_Dist_graph_create, also without the tracer (Open MPI 4.1).
export OMPI_MCA_topo=basic

mkdir bare traced
mpi_start 60 4 "$program" bare | sort >bare.out || fail "without the tracer: exit $?"
mpi_traced 60 4 "$work/run" "$program" traced 2>stderr | sort >traced.out || fail "traced: exit $?: $(tail -n 5 stderr)"
same "what the program prints" bare.out traced.out
for rank in 0 1 2 3; do
	same "what rank $rank wrote down" bare/$rank traced/$rank
done
"$commtrace" dump --format jsonl run >dump.jsonl
"$commtrace" info --format json run >info.json
"$mpi/list_hosts" run >listed
awk '$2 != "comm" { print $1, $2 }' listed >calls
# All but MPI_COMM_WORLD and MPI_COMM_SELF are freed, and those end with MPI.
for rank in 0 1 2 3; do
	[ "$(grep -c "^$rank comm .* open$" listed) $(grep -c "^$rank comm .* after$" listed)" = "0 2" ] ||
		fail "rank $rank has other communicators at its end: $(grep "^$rank comm .* [oa]" listed)"
done
"$python" "$(dirname "$0")/kinds.py" dump.jsonl info.json calls traced
