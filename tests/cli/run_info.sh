#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What info says without reading operations is what it says with them, but for what only they show: of a job that was recorded, of one
# of several hosts, and of a file that is damaged in the middle of what is not decoded.

# beside RUN [--whole]: without sums of communicators, traffic, clocks and errors of times.
beside() {
	commtrace info "$@" | sed '/^timing/s/, ±.*//; /^clock/d; /^communicators/s/ (.*//; /^traffic/,/^$/d' |
		awk '/^communicators/ { on = 1 } /^$/ { on = 0 } on && !/^communicators/ { print $1, $2, $3 | "sort"; next } { close("sort"); print; fflush() }'
	commtrace info "$@" --format=json | jq -S 'del(.clocks, .call_order, .run.timed_ratio, .run.pct_of, .run.begin_unix_ns) | .comms |= (map(del(.op_count,
		.first_seq, .last_seq, .bytes, .role, .role_confidence, .role_evidence, .steps_exposed_ns, .steps_exposed_wait_ns,
		.steps_exposed_err_ns)) | sort_by(.comm))'
}

same() {
	diff <(beside "$1" --whole) <(beside "$1") && echo "$1: the same"
}

commtrace run -q -o job -- "$build/bin/commtrace-simjob" --ranks 4 --steps 30 --step-ms 5 >out 2>err
same job
commtrace-synth -o hosts --workload megatron --hosts 2 --gpus-per-host 4 --steps 40 >/dev/null
same hosts
file=$(echo hosts/*.4000002.*.seg)
size=$(stat -c %s "$file")
printf 'damage' | dd of="$file" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
same hosts
commtrace info hosts | grep -c 'damaged: '
commtrace info hosts --format=json | jq -c '.comms[0] | [.op_count, .bytes, .last_seq]'
commtrace info hosts --format=json --whole | jq -c '.comms[0] | [.op_count > 0, .bytes > 0, .last_seq > 0]'
