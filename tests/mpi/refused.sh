#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Arguments that MPI refuses (refused.c) are for MPI to refuse: the program gets the same answers with the tracer. And what
# the refused calls were about has not ended by them.
. "$(dirname "$0")/mpi.sh"
program=$(mpi_program refused)

mpi_start 30 1 "$program" >bare || fail "without the tracer: exit $?"
mpi_traced 30 1 "$work/run" "$program" >traced 2>stderr || fail "traced: exit $? after $(tail -n 1 traced)"
same "bare and traced" bare traced
[ "$(tail -n 1 bare | tr -dc 0-9)" -ge 25 ] || fail "too little was refused: $(tail -n 1 bare)"

"$commtrace" dump --format jsonl run >dump.jsonl
ns() { grep "\"$1\"" dump.jsonl | grep -o "\"$2\":[0-9]*" | cut -d: -f2; }
sent=$(ns MPI_Send enter_ns) received=$(ns MPI_Irecv end_ns)
[ "$received" -ge "$sent" ] || fail "the receive ended at $received, before its message was sent at $sent"
wait=$("$mpi/list_waits" run | grep -c "MPI_Wait ended")
[ "$wait" -ge 1 ] || fail "no wait on record"
