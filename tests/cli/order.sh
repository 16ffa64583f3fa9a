#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks that do not call the same, in runs written by hand: a barrier of rank 0 alone, which pairs with the others' next
# one and completes; and an operation that rank 2 leaves out. The report says who, where and from where in the program.

# A line for each op "SEQ COUNT SITE [in]" of the ranks' lists, one list a line of the input: RANK | op, op, ...
lines() {
	awk -F'|' '{
		split($2, op, ",")
		for (i = 1; i in op; i++) {
			split(op[i], w, " ")
			at = 5000000000 + w[1] * 50000000 + $1 * 1000
			printf "{\"rank\":%d,\"host\":\"node1\",\"pid\":%d,\"tid\":%d,\"clock_offset_ns\":1700000000000000000,", $1, 100 + $1, 100 + $1
			printf "\"backend\":\"gloo\",\"call\":\"gloo::allreduce\",\"op\":\"AllReduce\",\"comm\":\"00000000c0ffee01\",\"comm_name\":\"world\","
			printf "\"nranks\":4,\"comm_rank\":%d,\"seq\":%d,\"count\":%d,\"dtype\":\"float32\",\"redop\":\"sum\",\"site\":\"%s\",", $1, w[1], w[2], w[3]
			printf "\"enter_ns\":%.0f,\"return_ns\":%s,\"timing\":\"call\"}\n", at, w[4] == "in" ? "null" : sprintf("%.0f", at + 900000)
		}
	}'
}

step="0 800 train.py:41, 1 800 train.py:41, 2 800 train.py:41"
lines >barrier.jsonl <<END
0|$step, 3 1 io.py:7, 4 1 train.py:60 in
1|$step, 3 1 train.py:60
2|$step, 3 1 train.py:60
3|$step, 3 1 train.py:60
END
lines >skipped.jsonl <<END
0|$step, 3 1 a.py:1, 4 20 a.py:2, 5 300 a.py:3, 6 4000 a.py:4
1|$step, 3 1 a.py:1, 4 20 a.py:2, 5 300 a.py:3, 6 4000 a.py:4
2|$step, 3 20 a.py:2, 4 300 a.py:3, 5 4000 a.py:4
3|$step, 3 1 a.py:1, 4 20 a.py:2, 5 300 a.py:3, 6 4000 a.py:4
END
# a list of ranks is whole
commtrace-synth -o exit --hosts 2 --fault=exit:rank=3,op=100 >/dev/null 2>&1
commtrace report exit --json | grep -o 'rank 3 exited cleanly[^"]*'
for run in barrier skipped; do
	commtrace import jsonl $run.jsonl -o $run >/dev/null
	commtrace report $run | sed '/^$/q'
	commtrace info --whole $run --format=json | tr -d ' \n' | grep -o '"call_order":\[[^]]*\]'
	commtrace report $run --fail-on=EXTRA_OP >/dev/null
	echo "exit code $?"
done
