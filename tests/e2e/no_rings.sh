#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job hangs, its rings are deleted, its processes are killed: what is in the segments shows where each rank stood. At once
# when nothing is called any more for COMMTRACE_HANG_AFTER; with CT_LONG=1 also by the flushes that come anyway.
. "$(dirname "$0")/e2e.sh"
simjob=$build/bin/commtrace-simjob
export COMMTRACE_QUIET=1

# hang NAME SECONDS SETTING...: rank 2 of 4 never enters its operation 400, long after the first flush; killed after so long.
hang() {
	local name=$1 seconds=$2 d=$work/$1 pids
	shift 2
	mkdir "$d"
	env COMMTRACE_DIR="$d/run" LD_PRELOAD="$library" "$@" "$simjob" --ranks 4 --workload ddp --steps 1000000 --step-ms 25 \
		--fault missing:rank=2,op=400 --journal "$d/journal" >"$d/out" 2>"$d/err" &
	local launcher=$!
	sleep "$seconds"
	[ -n "$(ls "$rings")" ] || fail "$name: there is no ring: nothing was recorded"
	rm -f "$rings"/*
	pids=$(pgrep -P $launcher | tr '\n' ' ')
	[ -n "$pids" ] || fail "$name: the job has ended: $(cat "$d/err")"
	# shellcheck disable=SC2086
	kill -KILL $launcher $pids
	wait $launcher 2>/dev/null || true
	rm -f "$rings"/*
	"$commtrace" dump --format=jsonl "$d/run" >"$d/dump" 2>"$d/dump.err" || fail "$name: $(cat "$d/dump.err")"
	python3 - "$d/dump" "$name" <<-'END' || exit 1
		import collections, json, sys
		ops = [json.loads(line) for line in open(sys.argv[1])]
		ranks = collections.defaultdict(list)
		for op in ops:
		    ranks[op["rank"]].append(op)
		def no(*words):
		    sys.exit(" ".join([sys.argv[2] + ":"] + [str(w) for w in words]))
		if sorted(ranks) != [0, 1, 2, 3]:
		    no("ranks", sorted(ranks))
		last = {r: max((o["comm"], o["seq"]) for o in v if o["seq"] is not None) for r, v in ranks.items()}
		stuck = {r: [o for o in v if o["state"] in ("started", "returned", "entered")] for r, v in ranks.items()}
		for r in (0, 1, 3):
		    if not stuck[r]:
		        no("rank", r, "has no operation under way; last", last[r])
		    if min(o["seq"] for o in stuck[r]) <= max(o["seq"] for o in ranks[2]):
		        no("rank", r, "is stuck in what rank 2 entered")
		if not any(o["state"] == "started" for r in (0, 1, 3) for o in stuck[r]):
		    no("no stuck operation is known to have begun")
		print(sys.argv[2], {r: (len(v), stuck[r][0]["seq"] if stuck[r] else None, stuck[r][0]["state"] if stuck[r] else None)
		                    for r, v in sorted(ranks.items())})
	END
}

hang stall 8 COMMTRACE_HANG_AFTER=1s COMMTRACE_FLUSH=600s
# up to 12 s between two flushes of the default, and the time until it hangs
[ "$long" = 0 ] || hang periodic 26 COMMTRACE_HANG_AFTER=600s
