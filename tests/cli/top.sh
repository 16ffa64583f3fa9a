#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --top: so many findings beside the verdict's and rows of the table, and all where there are fewer.
commtrace-synth --workload=megatron --tp=2 --pp=2 --dp=2 --steps=40 --fault=slow-rank:rank=5,ms=40 -o run1 >/dev/null
findings=$(commtrace report run1 --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["findings"]))')
rows=$(commtrace report run1 --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["ops"]))')
[ "$rows" -gt 6 ] || echo "only $rows rows"
# lines below the head of the table
table() { sed -n '/^operation /,/^$/p' | sed '1d; /^$/d; /^\.\.\./d; /^wait.rank:/d' | wc -l; }
for n in 1 2 6 1000; do
	[ "$(commtrace report run1 --top=$n | table)" = $((n < rows ? n : rows)) ] || echo "--top=$n: not so many rows"
	[ "$(commtrace report run1 --verbose --top=$n | table)" = $((n < rows ? n : rows)) ] || echo "--verbose --top=$n: not so many rows"
	[ "$(commtrace report run1 --verbose --top=$n | grep -c '^  finding ')" = $((n < findings - 1 ? n : findings - 1)) ] ||
		echo "--top=$n: not so many findings"
done
commtrace report run1 --verbose --top=2 | grep larger
commtrace report run1 --top=3 --json || echo "exit $?"
commtrace report run1 --top=0 || echo "exit $?"
# The command of that name: clocks of hosts have nothing in common, and what was recorded lasts as long as a rank's own clock has it.
commtrace-synth --hosts=2 --gpus-per-host=2 --steps=10 -o run2 >/dev/null
commtrace top run2 --json | jq --argjson true_ns "$(jq .duration_ns run2.truth.json)" '.duration_s * 1e9 / $true_ns | . > 0.5 and . < 2'
