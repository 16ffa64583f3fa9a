#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What this machine's network ports counted while a job ran, as reported by the one process of each host that reads them, held
# against what a shell finds in /sys before and after.
. "$(dirname "$0")/e2e.sh"

# ask FILE EXPRESSION: of info's JSON (t: its transport).
ask() {
	"$python" -c 'import json, sys; t = json.load(open(sys.argv[1]))["transport"]; print(eval(sys.argv[2]))' "$@"
}

# job NAME LOCAL_RANKS VARIABLE...: two ranks over Gloo.
job() {
	local name=$1 rank pids=() local_ranks
	read -ra local_ranks <<<"$2"
	shift 2
	mkdir -p "$name/store"
	for rank in 0 1; do
		RANK=$rank LOCAL_RANK=${local_ranks[$rank]} WORLD_SIZE=2 COMMTRACE_JOB=two COMMTRACE_QUIET=1 traced 60 "$work/$name/run" \
			env "$@" "$gloo_job" --rank $rank --size 2 --store "$name/store" --ops 200 --elements 1 \
			>"$name/out$rank" 2>"$name/err$rank" &
		pids+=($!)
	done
	for rank in 0 1; do
		wait "${pids[$rank]}" || fail "$name: rank $rank: exit $?: $(cat "$name/err$rank")"
	done
	"$commtrace" info --format=json "$name/run" >"$name.json" || fail "$name: commtrace info: exit $?"
}

# ports: names of the network devices that are to be reported: with a device, else without, that are up.
ports() {
	local hardware=() software=() dir name
	for dir in /sys/class/net/*; do
		name=${dir##*/}
		[ "$name" != lo ] && [ "$(cat "$dir/operstate" 2>/dev/null)" = up ] || continue
		if [ -L "$dir/device" ]; then hardware+=("$name"); else software+=("$name"); fi
	done
	[ ${#hardware[@]} -gt 0 ] || hardware=("${software[@]}")
	printf '%s\n' "${hardware[@]}" | sort
}

# moved: bytes in and out of them.
moved() {
	local name sum=0
	for name in $(ports); do
		sum=$((sum + $(cat "/sys/class/net/$name/statistics/rx_bytes") + $(cat "/sys/class/net/$name/statistics/tx_bytes")))
	done
	echo $sum
}

host=$(hostname | tr -c 'A-Za-z0-9._+\n-' _ | cut -c 1-63)
expected=$(ports)
before=$(moved)
job both "0 1" A=1
after=$(moved)
if [ -z "$expected" ]; then
	[ "$(ask both.json t)" = '{}' ] || fail "there is no port that is up, and $(ask both.json t) is reported"
else
	[ "$(ask both.json 'list(t)')" = "['$host']" ] || fail "hosts: $(ask both.json 'list(t)'), not $host"
	[ "$(ask both.json "t['$host']['rank']")" = 0 ] || fail "reported by rank $(ask both.json "t['$host']['rank']")"
	reported=$(ask both.json "'\n'.join(sorted(p['name'] for p in t['$host']['ports'] if p['kind'] == 'nic'))")
	[ "$reported" = "$expected" ] || fail "ports: $reported, not $expected"
	[ "$(ask both.json "t['$host']['samples'] >= 2")" = True ] || fail "samples: $(ask both.json "t['$host']['samples']")"
	bytes=$(ask both.json "t['$host']['nic_bytes']")
	[ "$bytes" -le $((after - before)) ] || fail "$bytes bytes are reported, $((after - before)) moved"
fi

# Whose local rank is another reads nothing, and no one does who is asked not to.
job other "1 2" A=1
[ "$(ask other.json t)" = '{}' ] || fail "local ranks 1 and 2: $(ask other.json t)"
job off "0 1" COMMTRACE_COUNTERS=0s
[ "$(ask off.json t)" = '{}' ] || fail "COMMTRACE_COUNTERS=0s: $(ask off.json t)"
echo "ports: ${expected//$'\n'/ }"
