#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Jobs on simulated machines that misbehave, with and without the preload: same output, same result, and, by the simulator's
# own account of every kernel, the same times on the devices' clocks; all calls of their journals are on record; the
# heartbeats never stop, although the driver and the disk hang.
. "$(dirname "$0")/e2e.sh"
simjob=$build/bin/commtrace-simjob
export COMMTRACE_QUIET=1 COMMTRACE_BUDGET=off COMMTRACE_FLUSH=100ms
seconds=1
[ "$long" = 0 ] || seconds=5

# with HOW DIR: the environment for HOW = plain, or what COMMTRACE_TIMING is.
with() {
	COMMTRACE_TIMING=${1/plain/auto}
	COMMTRACE_DIR=$2
	LD_PRELOAD=
	[ "$1" = plain ] || LD_PRELOAD=$library
	export COMMTRACE_TIMING COMMTRACE_DIR LD_PRELOAD
}

# ----------------------------------------------------------------------------------------------- times on the devices

# device NAME HOW OPTIONS...: the timeline of the devices into NAME.HOW. The machine may be too slow for a short pause.
device() {
	local name=$work/$1.$2 how=$2 pause status=9
	shift 2
	for pause in 1 4 16; do
		status=0
		rm -rf "$name.run"
		(with "$how" "$name.run" && exec timeout -k 5 480 "$e2e/device_job" "$name" $((pause * seconds * 1500)) "$@") \
			>"$name.out" 2>"$name.err" || status=$?
		[ $status = 9 ] || break
	done
	[ $status = 0 ] || fail "device_job $*, $how: exit status $status: $(cat "$name.err")"
}

# until_end FILE: ns from the first to the last kernel.
until_end() {
	tail -n 1 "$1" | cut -d' ' -f4
}

# devices NAME "HOW..." OPTIONS...: to the nanosecond.
devices() {
	local name=$1 hows=$2 how
	shift 2
	for how in plain $hows; do
		device "$name" "$how" "$@" &
	done
	wait
	for how in $hows; do
		same "$name, $how: what the kernels did" "$work/$name.plain" "$work/$name.$how"
		same "$name, $how: stdout" "$work/$name.plain.out" "$work/$name.$how.out"
	done
	printf '%-10s %d kernels, %d ns, the same with %s\n' "$name" "$(wc -l <"$work/$name.plain")" "$(until_end "$work/$name.plain")" "$hows"
}

# Every launch but those before the first events were made has its times, or the comparison says little.
timed() {
	local n
	n=$("$commtrace" dump --format=jsonl "$work/$1.run" 2>/dev/null | grep -c '"timing": *"events"') || true
	[ "$n" -ge 200 ] || fail "$1: only $n launches are timed"
}

devices usual "events auto"
timed usual.events
devices starved "events auto" starve=$((seconds * 2000))
devices held "events auto" lock=$((seconds * 500))
export CUDA_DEVICE_MAX_CONNECTIONS=1
devices one_queue auto
# That it would be seen: in a device's only queue timed events do stand in the way.
device one_queue events
[ "$(until_end "$work/one_queue.events")" -gt $(($(until_end "$work/one_queue.plain") * 12 / 10)) ] ||
	fail "timed events in a device's only queue cost nothing: $(until_end "$work/one_queue.plain") and $(until_end "$work/one_queue.events") ns"
echo "           with timed events $(until_end "$work/one_queue.events") ns"
unset CUDA_DEVICE_MAX_CONNECTIONS
# How far ranks are apart at the end follows from the communicator, which is another one each time.
device skewed plain skew=200 &
device skewed events skew=200
wait
a=$(until_end "$work/skewed.plain") b=$(until_end "$work/skewed.events")
[ $((a * 100)) -lt $((b * 102)) ] && [ $((b * 100)) -lt $((a * 102)) ] || fail "skewed: $a ns, traced $b"
echo "skewed     $a ns, traced $b"

# ------------------------------------------------------------------------------------------------------- whole jobs

# job NAME HOW ARGUMENTS...
job() {
	local d=$work/$1.$2 how=$2 status=0
	shift 2
	mkdir "$d"
	(with "$how" "$d/run" && exec timeout -k 5 480 "$simjob" --ranks 4 --nodes 2 --step-ms 10 --seed 3 --give-up 20 \
		--result "$d/result.json" --journal "$d/journal" "$@") >"$d/out" 2>"$d/err" || status=$?
	echo $status >"$d/status"
}

# whole NAME HOW: the journal is on record.
whole() {
	timeout -k 5 240 "$e2e/check_journal" --nccl -r "$work/$1.$2/run" "$work/$1.$2/journal" >"$work/said" 2>&1 ||
		fail "$1, $2: $(cat "$work/said")"
	grep -q '^check_journal: 4 processes' "$work/said" || fail "$1, $2: $(cat "$work/said")"
}

# jobs NAME STATUS ARGUMENTS...
jobs_are_same() {
	local name=$1 status=$2 file
	shift 2
	job "$name" plain "$@" &
	job "$name" events "$@"
	wait
	for file in status out result.json; do
		same "$name: $file" "$work/$name.plain/$file" "$work/$name.events/$file"
	done
	same "$name: stderr" <(sort "$work/$name.plain/err") <(sort "$work/$name.events/err")
	[ "$(cat "$work/$name.plain/status")" = "$status" ] || fail "$name: exit status $(cat "$work/$name.plain/status"): $(cat "$work/$name.plain/err")"
	whole "$name" events
	echo "$name: $(sed 's/^check_journal: //' "$work/said")"
}

jobs_are_same locked 0 --steps 20 --workload fsdp --fault driver-lock:rank=1,s=$seconds --fault starve-sm:rank=2,ms=10
jobs_are_same hung_disk 0 --steps 60 --workload moe --fault slow-write:rank=1,s=$seconds --fault gpu-pause:rank=2,ms=200 --end-skew-us 200
# Its kernels end only a while after the abort.
jobs_are_same aborted 1 --steps 10 --workload ddp --fault abort-completes:rank=1,op=16,ms=2000,after=$((seconds * 700))

# The disk hangs for longer than the job lasts: it ends within its bound, as it would; what was not written is in the ring.
begin=$(date +%s)
jobs_are_same hung_end 0 --steps 20 --fault slow-write:rank=1,s=90
took=$(($(date +%s) - begin))
[ $took -lt 45 ] || fail "a job waits for a disk that hangs: $took s"
info_json "$work/hung_end.events/run" | tr -d ' \n' | grep -q '"reason":"EXIT_TIMEOUT"' || fail "info does not tell what was not written at the end"

# Driver and disk of one rank hang together: the beat thread is the only one left.
hang=5
[ "$long" = 0 ] || hang=10
mkdir "$work/both.auto"
with auto "$work/both.auto/run"
LD_PRELOAD='' "$e2e/watch_beat" "$rings" "$work/beat" env LD_PRELOAD="$library" timeout -k 5 480 "$simjob" --ranks 4 --nodes 2 \
	--steps 20 --step-ms 10 --journal "$work/both.auto/journal" --fault driver-lock:rank=1,s=$hang \
	--fault slow-write:rank=1,s=$hang >"$work/both.auto/out" 2>&1 || fail "both: $(cat "$work/both.auto/out")"
unset LD_PRELOAD
whole both auto
beat=$(cat "$work/beat")
[ "$(word " $beat" ' ms')" -lt $((hang * 1000 - 500)) ] || fail "the heartbeats stop while driver and disk hang: $beat"
[ "$(sed -E 's/.*looks ([0-9]+).*/\1/' <<<"$beat")" -ge 40 ] || fail "the rings were hardly seen: $beat"
echo "driver and disk hang for $hang s: $beat"
