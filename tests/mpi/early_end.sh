#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `commtrace run` of a job that ends before its time: the launcher returns while its ranks are not quite gone, and yet
# everything is in the run when `run` returns. A rank that stands still is not a healthy job, neither while it does nor
# when it was ended from outside.
. "$(dirname "$0")/mpi.sh"
program=$(mpi_program early_end)
ranks=4
[ -z "$yield" ] || export LD_PRELOAD=$yield

# is_whole NAME: the run has all of it, and the sentence of `run` (NAME.said) is that of the report.
is_whole() {
	[ -z "$(ls "$rings")" ] || fail "$1: rings stay behind: $(ls "$rings"): $(cat "$1.said")"
	! grep -E 'still run|warning' "$1.said" || fail "$1: nothing stays behind, and yet it says so"
	cp -r "$1" "$1.copy"
	"$commtrace" report --verbose "$1" >"$1.report" || fail "$1: commtrace report: exit $?: $(cat "$1.said")"
	COMMTRACE_RING_DIR=$work/none "$commtrace" report --verbose "$1.copy" >"$1.copied" 2>&1 || fail "$1: the copy: exit $?"
	same "$1: the copy of the run" <(grep -v '^next\|commtrace ' "$1.report") <(grep -v '^next\|commtrace ' "$1.copied")
	grep -q " $ranks of $ranks ranks " "$1.report" || fail "$1: not all ranks: $(cat "$1.report")"
	stuck=$(sed -nE 's/^in flight ([0-9]+) operations? .*when recording ended$/\1/p' "$1.report") && [ "$stuck" ] || fail "$1: $(cat "$1.report")"
	grep -qE "Hang: |Not enough evidence: $stuck operations? in flight when recording ended" "$1.said" ||
		fail "$1: the report says '$stuck' in flight, and run: $(cat "$1.said")"
}

for n in 1 2; do
	timeout -k 5 240 "$commtrace" run -o abort$n -- "mpirun.$flavour" -n $ranks "$program" abort reached$n >out 2>abort$n.said &&
		fail "abort: exit 0"
	is_whole abort$n
done

"$commtrace" run -o stand -- "mpirun.$flavour" -n $ranks "$program" stand standing >out 2>stand.said &
run=$!
limit=$((SECONDS + 200)) code=0
until [ $code = 3 ]; do
	[ $SECONDS -lt $limit ] || fail "stand: --fail-on=any: exit $code: $(cat stand.report stand.said)"
	sleep 0.2
	code=0
	[ ! -e standing ] || "$commtrace" report stand --verbose --fail-on=any >stand.report 2>/dev/null || code=$?
done
! grep ^Healthy stand.report || fail "stand: is called healthy"
grep -qE '^in flight [0-9]+ operations? .* now$' stand.report || fail "stand: nothing is open: $(cat stand.report)"
! grep -q 'recording ended' stand.report || fail "stand: recording has not ended: $(cat stand.report)"
kill -TERM $run
wait $run && fail "stand: exit 0"
is_whole stand
echo "$flavour: everything of 2 aborted jobs and of one that stood still is in its run"
