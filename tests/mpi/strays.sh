#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls on communicators that are none, calls that are left by longjmp, communicators for which there is no room (strays.c):
# the job says the same with and without the tracer, and what comes after is on record.
. "$(dirname "$0")/mpi.sh"
program=$(mpi_program strays)
export COMMTRACE_QUIET=1

ways="error crowd"
[ "$flavour" != mpich ] || ways="freed $ways" # Open MPI does not find out, and may crash
for way in $ways; do
	mkdir "$way"
	code=0 traced=0
	mpi_start 60 2 "$program" "$way" >"$way/bare" 2>"$way/bare.err" || code=$?
	COMMTRACE_FLUSH=100ms mpi_traced 60 2 "$work/$way/run" "$program" "$way" >"$way/out" 2>"$way/err" || traced=$?
	[ $code = $traced ] || fail "$way: exit $traced, bare $code: $(cat "$way/err")"
	same "$way: what the ranks say" <(sort "$way/bare") <(sort "$way/out")
	timeout -k 5 240 "$commtrace" dump --format=jsonl "$way/run" >"$way/dump" || fail "$way: commtrace dump: exit $?"
	"$commtrace" report --verbose "$way/run" >"$way/report" || fail "$way: commtrace report: exit $?"
	! grep -q ': MPI_\(Send\|Probe\).*, entered' "$way/report" || fail "$way: nobody is inside: $(cat "$way/report")"
	"$python" "$root/tests/mpi/strays.py" "$way" || fail "$way: $(cat "$way/out") $(tail -n 60 "$way/dump")"
done
