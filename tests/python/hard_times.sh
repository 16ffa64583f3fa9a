#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Looking at an interpreter never hurts it: what hard_times.py does ends as it does without the preload, in every
# interpreter of this machine, several times since threads run while it ends.
. "$(dirname "$0")/../e2e/e2e.sh"
sim=$build/lib/sim
n=0
for interpreter in $("$root/tests/python/interpreters.sh"); do
	for ((round = 0; round < (long ? 200 : 3); round++)); do
		n=$((n + 1))
		status=0
		RANK=0 COMMTRACE_QUIET=1 COMMTRACE_DIR=$work/run.$n COMMTRACE_TIMING=host LD_LIBRARY_PATH=$sim LD_PRELOAD=$library \
			timeout 240 "$interpreter" "$root/tests/python/hard_times.py" "$sim/libnccl.so.2" >out 2>err || status=$?
		[ $status = 0 ] && [ "$(cat out)" = "the end" ] || fail "$interpreter: exit $status: $(tail -n 3 err)"
	done
	"$commtrace" dump --format=jsonl "run.$n" >dump || fail "$interpreter: dump: exit $?"
	grep -q '"site":"[^"]*hard_times.py:[0-9]* [^"]*reduce < ' dump || fail "$interpreter: no sites"
done
[ $n -gt 0 ] || fail "no Python 3.8 or later"
