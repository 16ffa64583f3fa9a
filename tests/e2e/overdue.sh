#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A rank that stays away from a collective: the others' kernels wait for it. The run is never called healthy, neither while it
# goes on nor after it was killed, and the report says which operation it is and on which ranks.
. "$(dirname "$0")/e2e.sh"

export COMMTRACE_QUIET=1 COMMTRACE_HANG_AFTER=1s COMMTRACE_FLUSH=200ms
traced 60 "$work/run" "$build/bin/commtrace-simjob" --ranks 4 --steps 20 --fault missing:rank=3,op=40 --give-up 30 \
	--result "$work/result.json" >/dev/null 2>&1 &

# says WHEN: what the report has to say.
says() {
	"$commtrace" report "$work/run" --verbose >report 2>/dev/null || true
	grep -q '^Hang: .*rank 3 .*never entered AllReduce #40' report || return 1
	grep -q 'rank [012]: ncclAllReduce #40 .* returned,' report || { cat report; fail "$1: which operation?"; }
	if grep -q 'rank 3: .*, returned,' report; then
		cat report
		fail "$1: rank 3 never launched it"
	fi
}

for _ in $(seq 100); do
	! says "while it goes on" || break
	sleep 0.2
done
says "while it goes on" || { cat report; fail "not reported while it goes on"; }
pkill -9 -f "$work/result.json"
wait || true
for _ in $(seq 50); do
	pgrep -f "$work/result.json" >/dev/null || break
	sleep 0.1
done
says "killed" || { cat report; fail "not reported after the kill"; }
