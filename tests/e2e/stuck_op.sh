#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One operation hangs: a receive without its send, a nonblocking operation that no one asks for, one behind a kernel that
# never ends. All others are recorded and timed, more of them than the open table has space for; also when the process is
# killed meanwhile.
. "$(dirname "$0")/e2e.sh"
job=$e2e/stuck_job
ms=1500
[ "$long" = 0 ] || ms=60000
export COMMTRACE_QUIET=1 COMMTRACE_BUDGET=off COMMTRACE_FLUSH=300ms

# one MODE [kill]
one() {
	local name=$1${2:+-$2} status=0 busy finished not_yet lost stuck said
	traced 120 "$work/$name" "$job" "$1" $ms ${2:+kill} >"$work/$name.out" 2>"$work/$name.err" || status=$?
	[ $status = $((${2:+137} + 0)) ] || fail "$name: exit status $status: $(cat "$work/$name.err")"
	[ "$(sed -n 's/^sum //p' "$work/$name.out")" = 1 ] || fail "$name: the result is wrong: $(cat "$work/$name.out")"
	busy=$(sed -n 's/^busy //p' "$work/$name.out")
	"$commtrace" dump --format=jsonl "$work/$name" >"$work/$name.dump" 2>"$work/dump.err" || fail "$name: $(cat "$work/dump.err")"
	lost=$(info_json "$work/$name" | tr -d ' \n' | grep -o '"reason":"DRIVER_HELD","records":[0-9]*' | grep -o '[0-9]*$' || echo 0)
	said=$(python3 - "$work/$name.dump" "$1" <<-'END'
		import collections, json, sys
		calls = [json.loads(line) for line in open(sys.argv[1])]
		comms = collections.Counter(call["comm"] for call in calls)
		busy = comms.most_common(1)[0][0]
		mine = [c for c in calls if c["comm"] == busy]
		timed = [c for c in mine if c["state"] == "finished" and c["start_ns"] is not None and c["end_ns"] is not None]
		stuck = sorted((c["op"], c["rank"] if c["rank"] is not None else -1, c["state"]) for c in calls if c["comm"] != busy)
		longest = max([(c["end_ns"] - c["start_ns"]) // 1000000 for c in calls if c["comm"] != busy and c["end_ns"]] or [0])
		print(len(mine), len(timed), len(mine) - len(timed), longest, " ".join(s[0] + ":" + s[2] for s in stuck))
	END
	)
	read -r finished timed not_yet longest stuck <<<"$said"
	[ "$finished" = "$busy" ] || fail "$name: $finished calls on record, not $busy"
	# those of the last moment were killed before anyone had looked at their events
	[ $((not_yet - lost)) -le $((${2:+100} + 0)) ] || fail "$name: $not_yet of $busy launches have no times, $lost of them counted as lost"
	case $1 in
	recv)
		[ "$stuck" = "Recv:finished Send:finished" ] || fail "$name: $stuck"
		[ "$longest" -ge $ms ] || fail "$name: the receive took $longest ms"
		;;
	*)
		[[ "$stuck" != *finished* ]] && [ "$(wc -w <<<"$stuck")" = 2 ] || fail "$name: $stuck"
		;;
	esac
	echo "$name: $busy calls recorded, $timed timed, $lost counted as not timed; $stuck"
}

for mode in recv unpolled stream; do
	one $mode &
	one $mode kill &
	wait -n && wait -n || exit 1
done
