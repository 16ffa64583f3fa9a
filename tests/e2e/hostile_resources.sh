#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the tracer lives on is taken away: descriptors, threads, its directory, calls of the system, the clock, room in the
# ring, the environment's usual size. The job does not notice, its own files stay its own, and what was called is on
# record, or counted.
. "$(dirname "$0")/e2e.sh"
job=$e2e/limited_job
export COMMTRACE_QUIET=1 COMMTRACE_BUDGET=off COMMTRACE_FLUSH=100ms

# compare WHAT: plain and traced.
compare() {
	local how d status
	for how in plain traced; do
		d=$work/$1.$how
		status=0
		mkdir -p "$d/own"
		if [ $how = plain ]; then
			timeout -k 5 240 "$job" "$1" "$d/own" >"$d/out" 2>"$d/err" || status=$?
		else
			traced 60 "$d/run" "$job" "$1" "$d/own" >"$d/out" 2>"$d/err" || status=$?
		fi
		echo "exit $status" >>"$d/out"
	done
	same "$1: stdout and exit status" "$work/$1.plain/out" "$work/$1.traced/out"
	same "$1: stderr" "$work/$1.plain/err" "$work/$1.traced/err"
	grep -qx 'exit 5' "$work/$1.plain/out" || fail "$1: the job itself fails: $(cat "$work/$1.plain/err")"
}

# recorded WHAT: sets `ops` and `calls`, on record and made.
recorded() {
	calls=$(sed -n 's/^calls //p' "$work/$1.traced/out")
	ops=$("$commtrace" dump --format=jsonl "$work/$1.traced/run" 2>"$work/dump.err" | grep -c '"call":') || true
}

whole() {
	recorded "$1"
	[ "$ops" = "$calls" ] || fail "$1: $ops calls on record, not $calls: $(cat "$work/dump.err")"
	echo "$1: all $calls calls on record"
}

# lost WHAT REASON: prints how many records info says were lost for this reason.
lost() {
	info_json "$work/$1.traced/run" | tr -d ' \n' | sed -nE "s/.*\"reason\":\"$2\",\"records\":([0-9]+).*/\1/p"
}

checks() {
	case $1 in
	threads)
		# each has a chunk of its own while it lives: more than there are
		recorded threads
		[ "$calls" = 2400 ] && [ "$ops" -gt 1000 ] || fail "threads: $ops of $calls calls on record"
		[ "$ops" = "$calls" ] || [ $((ops + $(lost threads POOL_EMPTY))) -ge "$calls" ] ||
			fail "threads: $ops of $calls calls on record, $(lost threads POOL_EMPTY) counted as lost"
		echo "threads: $ops of $calls calls on record, the others counted as lost"
		;;
	no-descriptors)
		# nothing can be made, and nothing is left
		[ -z "$(find "$rings" -name "*.ring" -newer "$work/no-descriptors.traced/out")" ] || fail "a ring without a descriptor"
		echo "no-descriptors: the job goes on unrecorded"
		;;
	no-threads)
		whole no-threads
		[ -n "$(lost no-threads THREAD_FAILED)" ] || fail "no-threads: info does not tell it"
		;;
	*)
		whole "$1"
		;;
	esac
}

kinds=(nothing descriptors closed taken directories system clock threads no-descriptors no-threads)
[ "$(id -u)" != 0 ] || kinds+=(root)
for what in "${kinds[@]}"; do
	(compare "$what" && checks "$what") &
	[ "$(jobs -rp | wc -l)" -lt 3 ] || wait -n || { wait && exit 1; }
done
while [ -n "$(jobs -p)" ]; do
	wait -n || { wait && exit 1; }
done

# An environment of a megabyte.
d=$work/environment
mkdir "$d"
(
	long=$(printf '%0100d' 0)
	for n in $(seq 8000); do
		export "VARIABLE_$n=$long"
	done
	export COMMTRACE_DIR=$d/run LD_PRELOAD=$library
	exec "$job" nothing "$d" >"$d/out" 2>"$d/err"
) || [ $? = 5 ] || fail "a large environment: $(cat "$d/err")"
n=$("$commtrace" dump --format=jsonl "$d/run" | grep -c '"call":') || true
[ "$n" = 400 ] || fail "a large environment: $n calls on record"

# No standard descriptors at all, where numbers 0 to 2 are the next ones that anyone gets.
d=$work/standard
mkdir "$d"
status=0
COMMTRACE_DIR=$d/run LD_PRELOAD=$library "$job" nothing "$d" <&- >&- 2>&- || status=$?
[ $status = 5 ] || fail "without standard descriptors: exit status $status"
n=$("$commtrace" dump --format=jsonl "$d/run" | grep -c '"call":') || true
[ "$n" = 400 ] || fail "without standard descriptors: $n calls on record"
echo "environment of a megabyte, no standard descriptors: all calls on record"
