#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A process that hides from others (PR_SET_DUMPABLE 0), or must not call what others' memory is read with (a container's filter): it goes on as
# it would, nothing is said on its stderr, and of its stack there is what can be had: the frames of Python, and the machine's where
# the kernel shows registers.
. "$(dirname "$0")/../e2e/e2e.sh"
sim=$build/lib/sim

play() { # NAME WAY...
	local d=$work/$1 rank pids=() waited=0 status=0
	shift
	mkdir -p "$d/run" "$d/rings"
	chmod 777 "$work" "$d" "$d/run" "$d/rings"
	for rank in 0 1; do
		RANK=$rank WORLD_SIZE=2 COMMTRACE_JOB=hidden COMMTRACE_QUIET=1 COMMTRACE_DIR=$d/run/run COMMTRACE_RING_DIR=$d/rings COMMTRACE_HANG_AFTER=1s \
			COMMTRACE_RING_MB=1 LD_LIBRARY_PATH=$sim LD_PRELOAD=$library /usr/bin/python3 "$root/tests/python/hidden.py" "$sim/libnccl.so.2" "$d" "$@" \
			>"$d/out.$rank" 2>&1 &
		pids+=($!)
	done
	trap 'kill -9 "${pids[@]}" 2>/dev/null || true' EXIT # of the subshell that plays it
	while [ ! -e "$d/stands.0" ] || [ ! -e "$d/stands.1" ]; do
		waited=$((waited + 1))
		[ $waited -lt 600 ] || fail "$d: they never came to stand: $(cat "$d"/out.*)"
		sleep 0.1
	done
	sleep 4
	for rank in 0 1; do
		kill -0 "${pids[rank]}" || fail "$d: rank $rank is gone: $(cat "$d/out.$rank")"
		kill -9 "${pids[rank]}"
		wait "${pids[rank]}" 2>/dev/null || true
		[ ! -s "$d/out.$rank" ] || fail "$d: rank $rank said: $(cat "$d/out.$rank")"
	done
	COMMTRACE_RING_DIR=$d/rings "$commtrace" hang "$d/run/run" --json >"$d/hang.json" || status=$?
	[ $status = 3 ] || fail "$d: hang: no verdict: $(cat "$d/hang.json")"
	# how many frames of rank 1's main thread, of the machine and of Python; and the function in which it stands
	"$python" - "$d/hang.json" <<'PY'
import json, sys
verdict = json.load(open(sys.argv[1]))["verdicts"][0]
stack = [s for s in verdict["stacks"] if s["rank"] == 1 and s["main"]]
frames = stack[0]["frames"] if stack else []
native = [f for f in frames if f["kind"] == "native"]
own = [f["func"] for f in frames if f["kind"] == "python" and f["file"].endswith("hidden.py")]
print(verdict["code"], verdict["ranks"], len(stack), "native" if native else "-", own[0] if own else "-")
PY
}

same_words() { # WHAT WANTED GOT
	[ "$2" = "$3" ] || fail "$1: $3, not $2"
}
same_words plain "NEVER_ENTERED [1] 1 native stand" "$(play plain)"
same_words filter "NEVER_ENTERED [1] 1 native stand" "$(play filter filter)"
same_words dumpable "NEVER_ENTERED [1] 1 - stand" "$(play dumpable dumpable)"
same_words both "NEVER_ENTERED [1] 1 - -" "$(play both dumpable filter)"
