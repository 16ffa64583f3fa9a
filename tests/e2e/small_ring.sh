#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A ring of 1 MB holds what a rank does that communicates 2000 times a second and runs ahead of its GPU by 100 launches: nothing is
# dropped. "small_ring.sh --measure" prints for each size of ring what is lost at which rate.
. "$(dirname "$0")/e2e.sh"
export COMMTRACE_TIMING=events COMMTRACE_QUIET=1

# record MB PER_SECOND SECONDS AHEAD: sets `lost`, as info has it, and `calls`, `ops`, `rate`.
record() {
	local d=$work/$1.$2.$4
	COMMTRACE_RING_MB=$1 traced 60 "$d" "$e2e/paced_job" "$2" "$3" "$4" >"$work/out" 2>"$work/err" || fail "exit $?: $(cat "$work/err")"
	calls=$(sed -n 's/^calls //p' "$work/out")
	rate=$(sed -n 's/^rate //p' "$work/err")
	ops=$("$commtrace" dump --format=jsonl "$d" | grep -c '"op":"AllReduce"') || true
	lost=$(info_json "$d" | tr -d ' \n' | grep -oE '"reason":"[A-Z_]+","records":[0-9]+' | tr -d '"' | tr '\n' ' ') || true
	rm -rf "$d"
}

if [ "${1:-}" = --measure ]; then
	echo "MB of ring, calls/s wanted, calls/s made, launches under way, calls on record of calls made, lost"
	for mb in 0.25 0.5 1 4; do
		for wanted in 500 2000 10000 50000; do
			for ahead in 0 100 500; do
				record $mb $wanted 4 $ahead
				printf '%5s %6s %6s %5s  %6s of %6s  %s\n' $mb $wanted "$rate" $ahead "$ops" "$calls" "${lost:-none}"
			done
		done
	done
	exit
fi
for ahead in 0 100; do
	record 1 2000 3 $ahead
	[ "$ops" = "$calls" ] || fail "$ahead launches under way: $ops of $calls calls on record"
	# Where the poll thread waits for a core, events run out, and launches stay without times. That is no matter of the ring.
	lost=$(tr ' ' '\n' <<<"$lost" | grep -vE '^$|:(EVENT_POOL_EMPTY|WAITS_FULL|DRIVER_HELD),') || true
	[ -z "$lost" ] || fail "$ahead launches under way: lost: $lost"
done
echo "a ring of 1 MB: all $calls calls on record, none lost"
