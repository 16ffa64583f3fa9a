#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs of several hosts, written by hand: clocks that can be related, that cannot, and one that is set in the middle.

# line RANK HOST COMM SIZE COMM_RANK SEQ ENTER RETURN
line() {
	printf '{"rank":%d,"host":"%s","pid":%d,"clock_offset_ns":1700000000000000000,"tid":1,"backend":"mpi","call":"MPI_Allreduce","op":"AllReduce",' \
		"$1" "$2" $((100 + $1))
	printf '"comm":"%016x","comm_name":"c","nranks":%d,"comm_rank":%d,"seq":%d,"count":1000,"dtype":"float32","redop":"sum","enter_ns":%d,"return_ns":%d,"result":0,"timing":"call"}\n' \
		"$3" "$4" "$5" "$6" "$7" "$8"
}

# run OFFSET SET APART: two ranks on each of two hosts, of which the second shows OFFSET ms more, SET ms more than that from the
# middle on; APART: each host by itself.
run() {
	for seq in {0..59}; do
		at=$((1000000000 + seq * 10000000))
		for rank in 0 1 2 3; do
			off=$((rank < 2 ? 0 : $1 * 1000000 + (seq < 30 ? 0 : $2 * 1000000)))
			begin=$((at + off + rank * 20000)) end=$((at + off + 1000000 + (seq * 7 + rank * 3) % 5 * 1000))
			if [ "$3" = apart ]; then
				line $rank "node$((rank / 2))" $((17 + rank / 2)) 2 $((rank % 2)) $seq $begin $end
			else
				line $rank "node$((rank / 2))" 16 4 $rank $seq $begin $end
			fi
		done
	done
}

look() {
	run "${@:2}" >"$1.jsonl"
	commtrace import jsonl "$1.jsonl" -o "$1" >/dev/null
	echo "$1:"
	{ commtrace report "$1" --format=kv; commtrace report "$1" --verbose; } | grep -E '^(CLOCK_CONFLICT|clocks)'
	commtrace info --whole "$1" | grep '^clock '
	commtrace timeline "$1" -o - --format=tuples 2>&1 | grep 'AllReduce' | grep 'rank 0002 > c' | head -n 1
	commtrace timeline "$1" -o "$1.pftrace" 2>&1 >/dev/null | sed 's/^/timeline: /'
}

look related 7 0 together
look apart 7 0 apart
look set 7 3 together

# Hosts that are all related by way of others: two that disagree by little are no finding, and by much only those two.
for ppm in 280 400; do
	commtrace-synth -o drift --seed 3 --workload ddp --hosts 4 --gpus-per-host 2 --steps 60 --clock-drift-ppm $ppm >/dev/null
	echo "drift $ppm:"
	commtrace report drift --format=kv | grep -E '^CLOCK_CONFLICT' | cut -d' ' -f3,6-
	rm -rf drift drift.truth.json
done

# So short that some pair of hosts has nothing that bounds it: no row of a table that is not there is looked at.
commtrace-synth -o short --workload megatron --hosts 4 --gpus-per-host 2 --steps 1 --seed 861336 --step-ms 10000 \
	--clock-offset-ms 1000000 --clock-drift-ppm 20 --event-jitter-us 100
commtrace info --whole short >/dev/null || echo "exit $?"
# Sixteen clocks that drift by up to 1 %: only those compared with the reference within 300 ppm are related, and of those the error
# holds; the others are named, not the reference that all are compared with.
commtrace-synth -o drift --workload fsdp --hosts 16 --gpus-per-host 2 --steps 5 --seed 245267 --step-ms 200 --clock-offset-ms 5000 \
	--clock-drift-ppm 10000 --clock-wander-ppb 100 --event-jitter-us 100 --end-skew-fixed-us 300
echo drift:
commtrace report drift --format=kv | grep -o 'hosts=[^ ]*\|failed=[0-9]*'
# The offset is that of a moment that was measured, not of the middle of a run that others' clocks have made long: what the two clocks
# really show (drift.truth.json) goes from -2219725231989991 to -2219725232152620 while the job runs.
commtrace info --whole drift | sed -n 's/^clock .*host \([^ ,]*\),.*offset \([-0-9][0-9]*\) ns.*quality \([A-Z]*\).*/\1 \3 \2/p' |
	awk '{ is = $3 > -2219725232152620 - 373000 && $3 < -2219725231989991 + 373000
		print $1, $2, $1 == "node0" || is ? "right" : $3 }'
