#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job on a driver whose timed events take time of their streams, and one where they do not: auto goes over to events in both, the
# guard notices what they cost and turns them down in the first, and leaves them alone in the second. The cost is high, so that a busy
# machine does not hide it, and the windows are long beside the time for which a thread waits for a core there: it goes over late to
# not timing. What it takes to see a small cost is tests/interpose/test_gpudecide.c's.
. "$(dirname "$0")/e2e.sh"
export COMMTRACE_QUIET=1 COMMTRACE_TIMING=auto COMMTRACE_GUARD=0s,500ms/2500ms COMMTRACE_BUDGET=20%

# job NAME STEPS TIMED_NS
job() {
	rm -rf "${work:?}/$1"
	traced 120 "$work/$1" env SIM_TIMED_NS="$3" "$build/bin/commtrace-simjob" --ranks 2 --steps "$2" --step-ms 4 \
		--result "$work/$1.json" >/dev/null || fail "$1: exit $?"
	! grep '"misuse": [^0]' "$work/$1.json" || fail "$1: misuse"
	"$commtrace" info "$work/$1" >"$work/$1.info"
	"$commtrace" report "$work/$1" --verbose >"$work/$1.report"
}

# lines NAME PATTERN: in how many processes' lines.
lines() {
	grep -cE "^ +$2" "$work/$1.info" || true
}

# Each timed event 2 ms, 14 of them in a step of 4 ms.
dear() {
	for steps in 1500 6000; do
		job dear $steps 2000000
		[ "$(lines dear 'timed events made steps longer')" != 2 ] || break
	done
	[ "$(lines dear 'timed events made steps longer')" = 2 ] &&
		[ "$(lines dear 'events from [^,]+, events until [^,]+, step [^,]+, step change \+')" = 2 ] ||
		fail "not turned down on both ranks: $(grep -A9 '^overhead of' "$work/dear.info")"
	tr -s '\n ' ' ' <"$work/dear.report" | grep -q ' overhead .*; steps longer [0-9]' || fail "not in the report"
	grep -q '^events    used from .* until .*: lateness and exposed communication are of that time' "$work/dear.report" ||
		fail "the line of timing: $(grep '^timing' "$work/dear.report")"
}

cheap() {
	for steps in 4000 12000; do
		job cheap $steps 0
		[ "$(lines cheap 'events from [^,]+, step .*step change [-+]')" != 2 ] || break
	done
	[ "$(lines cheap 'events from [^,]+, step .*step change [-+]')" = 2 ] ||
		fail "not measured, or turned down: $(grep -A9 '^overhead of' "$work/cheap.info")"
	[ "$(lines cheap '.*events until')" = 0 ] || fail "turned down: $(grep -A9 '^overhead of' "$work/cheap.info")"
}

# Beside each other: they wait most of the time.
dear &
cheap
wait $! || exit 1
for name in dear cheap; do
	echo "$name: $(tr -s '\n ' ' ' <"$work/$name.report" | grep -o 'steps [a-z]* [-+0-9][^;]*')"
done
