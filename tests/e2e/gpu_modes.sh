#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Simulated jobs under every COMMTRACE_TIMING and with what leaves times out: the same output, no misuse of CUDA, all calls
# on record with all their sequence numbers, and times that are true, by the simulator's own account of its kernels.
. "$(dirname "$0")/e2e.sh"
simjob=$build/bin/commtrace-simjob
spans_awk=$root/tests/e2e/spans.awk
workloads="ddp megatron fsdp moe decode"

# NAME SETTINGS: which settings make what.
modes() {
	cat <<-'MODES'
	plain
	events
	auto COMMTRACE_TIMING=auto
	rising COMMTRACE_TIMING=auto COMMTRACE_GUARD=0s,10ms/40ms
	host COMMTRACE_TIMING=host
	one COMMTRACE_TIMING=auto CUDA_DEVICE_MAX_CONNECTIONS=1
	plugin COMMTRACE_TIMING=plugin
	off COMMTRACE_TIMING=off
	sample COMMTRACE_SAMPLE=3
	duty COMMTRACE_DUTY=40ms/80ms
	late LATE=1
	MODES
}

# job MODE WORKLOAD SETTINGS...
job() {
	local out=$work/$2.$1 preload=$library status=0
	[ "$1" != plain ] || preload=
	[ "$1" != late ] || preload=$library:$e2e/liblate_shim.so
	shift 2
	mkdir "$out"
	cd "$out"
	env "$@" COMMTRACE_QUIET=1 COMMTRACE_BUDGET=off COMMTRACE_DIR="$out/run" LD_PRELOAD="$preload" timeout -k 5 480 \
		"$simjob" --ranks 4 --nodes 2 --workload "$(basename "${out%.*}")" --steps 5 --step-ms 15 --spans spans \
		--result result.json >stdout 2>stderr || status=$?
	echo $status >status
	if [ -n "$preload" ] && [ $status = 0 ]; then
		timeout -k 5 240 "$commtrace" dump --format=jsonl run | sed 's/.*"enter_ns":\([0-9]*\).*/\1 &/' |
			sort -n | cut -d ' ' -f 2- >dump.jsonl
		awk -f "$spans_awk" spans dump.jsonl >reported
	fi
}

for workload in $workloads; do
	while read -r mode settings; do
		# shellcheck disable=SC2086
		job "$mode" "$workload" $settings &
		while [ "$(jobs -rp | wc -l)" -ge 6 ]; do
			wait -n || fail "$mode"
		done
	done < <(modes)
done
wait

# reported WORKLOAD MODE NAME: a figure of spans.awk.
reported() {
	word " $(cat "$work/$1.$2/reported")" " $3"
}

# sequences WORKLOAD.MODE: how many of them each rank has in each communicator, and whether they are all there.
sequences() {
	sed -nE 's/^\{"rank":([0-9]+),.*"comm":"([0-9a-f]*)".*"seq":([0-9]+),.*/\1 \2 \3/p' "$work/$1/dump.jsonl" |
		awk '{ n[$1 " " $2]++; if (!($1 " " $2 in most) || $3 > most[$1 " " $2]) most[$1 " " $2] = $3 }
			END { for (k in n) print substr(k, 1, index(k, " ")) n[k], most[k] + 1 == n[k] ? "all" : "missing" }' | sort
}

# halves WORKLOAD.MODE: collectives that some ranks timed and others did not; and those that were timed, and not.
halves() {
	sed -nE 's/.*"comm":"([0-9a-f]*)".*"seq":([0-9]+),.*"start_ns":([0-9a-z]+),.*/\1 \2 \3/p' "$work/$1/dump.jsonl" |
		awk '{ k = $1 " " $2; n[k]++; t[k] += $3 != "null" }
			END { for (k in n) if (t[k] == n[k]) all++; else if (t[k]) some++; else none++
				printf "%d %d %d\n", some, all, none }'
}

picked=0 passed_by=0 raised=0
for workload in $workloads; do
	plain=$workload.plain
	sequences "$workload.events" >"$work/sequences"
	! grep missing "$work/sequences" || fail "$workload: sequence numbers"
	calls=$(wc -l <"$work/$workload.events/dump.jsonl")
	for out in "$work/$workload".*; do
		mode=${out##*.}
		for file in status stdout result.json; do
			same "$workload, $mode: $file" "$work/$plain/$file" "$out/$file"
		done
		grep -q '"misuse": 0' "$out/result.json" || fail "$workload, $mode: misuse"
		! grep '"misuse": [^0]' "$out/result.json" || fail "$workload, $mode: misuse"
		[ "$mode" != plain ] || continue
		[ "$(wc -l <"$out/dump.jsonl")" = "$calls" ] || fail "$workload, $mode: $(wc -l <"$out/dump.jsonl") calls, not $calls"
		sequences "$workload.$mode" >"$work/here"
		same "$workload, $mode: sequence numbers" "$work/sequences" "$work/here"
		[ "$(reported "$workload" "$mode" outside)" = 0 ] || fail "$workload, $mode: $(cat "$out/reported")"
	done
	# On a busy machine the first launches of a job this short may find no event.
	for mode in events late; do
		[ "$(reported "$workload" $mode started)" -gt 0 ] || fail "$workload, $mode: $(cat "$work/$workload.$mode/reported")"
	done
	for mode in auto host one; do
		[ "$(reported "$workload" $mode started)" = 0 ] || fail "$workload, $mode: has starts"
		[ "$(reported "$workload" $mode timed)" -gt 0 ] || fail "$workload, $mode: $(cat "$work/$workload.$mode/reported")"
		! sed 's/.*"timing":"\([a-z]*\)".*/\1/' "$work/$workload.$mode/dump.jsonl" | grep -v -e host -e off || fail "$workload, $mode"
	done
	raised=$((raised + $(reported "$workload" rising started)))
	for mode in plugin off; do
		[ "$(reported "$workload" $mode timed)" = 0 ] || fail "$workload, $mode: $(cat "$work/$workload.$mode/reported")"
	done
	read -r some all none < <(halves "$workload.sample")
	[ "$some" = 0 ] || "$commtrace" info "$work/$workload.sample/run" | grep -q EVENT_POOL_EMPTY ||
		fail "$workload, sample: $some in part, $all, $none not"
	picked=$((picked + all)) passed_by=$((passed_by + none))
	# Where a thread stood still for milliseconds the error says so.
	[ "$(reported "$workload" late wide)" -gt 0 ] || fail "$workload, late: $(cat "$work/$workload.late/reported")"
done

# After two steps of a job this short.
[ $raised -gt 0 ] || fail "rising: no starts"
# One in three, of some hundred.
[ $((picked * 5)) -gt "$passed_by" ] && [ "$picked" -lt "$passed_by" ] || fail "sample: $picked timed, $passed_by not"

# Said where it is read first.
"$commtrace" report "$work/ddp.one/run" --verbose | grep -q '^timing    host: .*(CUDA_DEVICE_MAX_CONNECTIONS=1, no plugin)' ||
	fail "report: $("$commtrace" report "$work/ddp.one/run" --verbose)"
"$commtrace" info "$work/ddp.one/run" | grep -q '^timing    host: .*(CUDA_DEVICE_MAX_CONNECTIONS=1, no plugin)$' || fail "info"
"$commtrace" report "$work/ddp.plugin/run" --json | grep -q 'nothing was timed; NCCL has not loaded the plugin' || fail "plugin"
"$commtrace" report "$work/ddp.sample/run" --verbose | grep -q '^timed     .* of launches (sample 3): sums are of these$' || fail "sample"
"$commtrace" info "$work/ddp.auto/run" | grep -q '^timing    host: .*(too early for events)$' || fail "auto"
"$commtrace" info "$work/ddp.duty/run" | grep -q ' duty 40.0 ms/80.0 ms' || fail "duty"
! "$commtrace" report "$work/ddp.events/run" --verbose | grep '^timed ' || fail "events"
echo "$(modes | wc -l) ways to time $(wc -w <<<"$workloads") workloads are true; sampled: $picked of $((picked + passed_by))"
