#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks that fork, whose calls fail, that give up (lives.c): the job is the same with and without the tracer, and what had been
# called is on record with its result.
. "$(dirname "$0")/mpi.sh"
program=$(mpi_program lives)
export COMMTRACE_QUIET=1

for way in fork errors abort; do
	mkdir $way
	code=0 traced=0
	mpi_start 60 2 "$program" $way >$way/bare 2>$way/bare.err || code=$?
	mpi_traced 60 2 "$work/$way/run" "$program" $way >$way/out 2>$way/err || traced=$?
	[ $code = $traced ] || fail "$way: exit $traced, bare $code: $(cat $way/err)"
	[ $way = abort ] || [ $code = 0 ] || fail "$way: exit $code"
	# (what was printed before an abort may be lost)
	[ $way = abort ] || same "$way: what the ranks say" <(sort $way/bare) <(sort $way/out)
	timeout -k 5 240 "$commtrace" dump --format=jsonl $way/run >$way/dump || fail "$way: commtrace dump: exit $?"
	timeout -k 5 240 "$commtrace" report --format=json $way/run >$way/report || fail "$way: commtrace report: exit $?"
	info_json $way/run >$way/info || fail "$way: commtrace info: exit $?"
	"$python" "$root/tests/mpi/lives.py" $way || fail "$way: $(cat $way/out) $(cat $way/dump)"
done
