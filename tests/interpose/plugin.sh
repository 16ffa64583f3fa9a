#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The library as NCCL's profiler plugin, in jobs on simulated GPUs and in every version of the interface: beside the
# preload each op is recorded once, with its detail; alone, with NCCL linked statically and hidden, all ops are, marked; a
# copy of the file beside the preload changes nothing. The job's results are those of the job without.
. "$(dirname "$0")/../e2e/e2e.sh"
ops=$build/tests/interpose/plugin_ops
ranks=4

# job NAME PROGRAM ENVIRONMENT...: into $work/NAME, its exit status 0.
job() {
	local d=$work/$1 program=$build/bin/commtrace-simjob$2
	shift 2
	mkdir -p "$d"
	(cd "$d" && timeout -k 5 360 env COMMTRACE_QUIET=1 COMMTRACE_DIR="$d/run" "$@" "$program" --ranks $ranks --workload "${workload:-moe}" \
		--steps 3 --step-ms 10 --seed 3 --result result.json --journal journal >out 2>err) ||
		fail "$d: exit $?: $(tail -n 3 "$d/err")"
	same "$d: stdout" "$work/bare/out" "$d/out"
	same "$d: result" "$work/bare/result.json" "$d/result.json"
	[ ! -s "$d/err" ] || fail "$d: says $(cat "$d/err")"
	grep -q '"misuse": 0' "$d/result.json" || fail "$d: misuse"
}

# dumped NAME PATTERN: how many of its ops have it.
dumped() {
	timeout -k 5 240 "$commtrace" dump "$work/$1/run" --format=jsonl >"$work/$1/ops"
	grep -cE "$2" "$work/$1/ops" || true
}

# no_losses NAME
no_losses() {
	info_json "$work/$1/run" >"$work/$1/info"
	grep -q '"dropped": \[\]' "$work/$1/info" || fail "$1: $(grep -A 20 '"dropped"' "$work/$1/info")"
}

mkdir "$work/bare"
(cd "$work/bare" && timeout -k 5 360 "$build/bin/commtrace-simjob" --ranks $ranks --workload moe --steps 3 --step-ms 10 --seed 3 \
	--result result.json --journal journal >out 2>err)
cp "$library" "$work/copy.so"

together() {
	local name=$1 version=$2 plugin=$3 timing=$4 n
	job "$name" "" LD_PRELOAD="$library" NCCL_PROFILER_PLUGIN="$plugin" SIM_PROFILER_VERSION="$version" COMMTRACE_TIMING="$timing"
	"$e2e/check_journal" --nccl -r "$work/$name/run" "$work/$name/journal" >"$work/$name/said" 2>&1 || fail "$(cat "$work/$name/said")"
	n=$(dumped "$name" '"seen_by":"wrapper"')
	[ "$n" = "$(wc -l <"$work/$name/ops")" ] && [ "$n" -gt 500 ] || fail "$name: $n ops came through wrappers"
	# all-to-alls are made of messages, of which version 3 shows no channels
	[ "$(grep -cE '"op":"(AllReduce|Broadcast)".*"algo":"(RING|TREE)","proto":"(SIMPLE|LL)"' "$work/$name/ops")" = \
		"$(grep -cE '"op":"(AllReduce|Broadcast)"' "$work/$name/ops")" ] || fail "$name: algorithms are missing"
	[ "$version" = 3 ] || [ "$(grep -cE '"op":"(Send|Recv)".*"channels":1' "$work/$name/ops")" = \
		"$(grep -cE '"op":"(Send|Recv)"' "$work/$name/ops")" ] || fail "$name: channels are missing"
	if [ "$timing" = plugin ]; then
		[ "$(grep -c '"timing":"plugin"' "$work/$name/ops")" = "$([ "$version" = 3 ] && echo 0 || echo "$n")" ] ||
			fail "$name: $(grep -c '"timing":"plugin"' "$work/$name/ops") of $n ops are timed"
	else
		[ "$(grep -c '"timing":"events"' "$work/$name/ops")" -gt 0 ] || fail "$name: nothing is timed by events"
	fi
	no_losses "$name"
}

alone() {
	local name=$1 version=$2 said
	# version 4 does not say which calls are captured, so that it has to be asked for times
	job "$name" -static NCCL_PROFILER_PLUGIN="$library" SIM_PROFILER_VERSION="$version" \
		COMMTRACE_TIMING="$([ "$version" = 4 ] && echo plugin || echo auto)"
	said=$("$ops" "$work/$name/run" "$work/$name/journal" $ranks 2>&1) || fail "$name: $said"
	[ "$version" = 3 ] || [ "$(word "$said" ' launches')" = "$(word "$said" ' timed')" ] || fail "$name: $said"
	[ "$version" = 3 ] || no_losses "$name"
	grep -q "pass no wrapper" "$work/$name/info" 2>/dev/null || [ "$version" = 3 ] || fail "$name: info does not say so"
	echo "alone, version $version: $said"
}

# What the preload has not seen it has not recorded: without the plugin there is nothing.
job unseen -static LD_PRELOAD="$library"
[ ! -d "$work/unseen/run" ] || fail "NCCL was not hidden"

for version in 3 4 5 6; do
	together "both.$version" $version "$library" plugin
	alone "alone.$version" $version
done
together events 5 "$library" events
together static_plugin 6 STATIC_PLUGIN plugin
together copy 6 "$work/copy.so" plugin
grep -q "another copy of the library" "$work/copy/info" || fail "info does not tell of the copy"
! grep -q "another copy of the library" "$work/both.6/info" || fail "info tells of a copy"
# with both, and NCCL hidden from the preload: the plugin's half alone
job hidden -static LD_PRELOAD="$library" NCCL_PROFILER_PLUGIN="$library"
"$ops" "$work/hidden/run" "$work/hidden/journal" $ranks

# Switched off, it asks NCCL for nothing and leaves nothing.
job off -static NCCL_PROFILER_PLUGIN="$library" COMMTRACE=0
[ ! -d "$work/off/run" ] || fail "COMMTRACE=0 records"

# commtrace run --plugin sets it, and leaves the user's own.
"$commtrace" run -q --plugin -o "$work/asked" -- "$BASH" -c 'echo "$NCCL_PROFILER_PLUGIN"' >"$work/set"
"$commtrace" run -q -o "$work/asked2" -- "$BASH" -c 'echo "${NCCL_PROFILER_PLUGIN-none}"' >>"$work/set"
NCCL_PROFILER_PLUGIN=mine "$commtrace" run -q --plugin -o "$work/asked3" -- "$BASH" -c 'echo "$NCCL_PROFILER_PLUGIN"' >>"$work/set"
[ "$(sed "s|.*/||" "$work/set" | tr '\n' ' ')" = "libcommtrace.so none mine " ] || fail "run --plugin: $(cat "$work/set")"

# Killed at some moment: what was recorded can be read.
between ms 150 400
d=$work/killed
mkdir "$d"
(cd "$d" && timeout -k 5 240 env COMMTRACE_QUIET=1 COMMTRACE_DIR="$d/run" NCCL_PROFILER_PLUGIN="$library" "$build/bin/commtrace-simjob-static" \
	--ranks $ranks --workload moe --steps 100000 --step-ms 10 --journal journal --on-death wait \
	$(for r in 0 1 2 3; do echo "--fault kill:rank=$r,ms=$((ms + 7 * r))"; done) >out 2>err) && fail "nobody was killed"
"$ops" --killed "$d/run" "$d/journal" $ranks
echo "plugin and preload: ok"
