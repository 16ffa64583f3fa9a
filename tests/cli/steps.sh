#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job of 40 steps of 10 ms: two all-reduces in each, a third one, tiny, in every fourth. The report cuts it into steps, by
# itself or where it is reported; an operation that there is not is a mistake of the user, and near ones are named.
for rank in 0 1; do
	for step in {0..39}; do
		at=$((1000000000 + 10000000 * step)) seq=$((2 * step + step / 4))
		op() {
			echo "{\"rank\":$rank,\"op\":\"AllReduce\",\"comm\":\"00c0ffee00000001\",\"comm_name\":\"job:0\",\"nranks\":2,\"comm_rank\":$rank,\"seq\":$1,\"bytes\":$2,\"enter_ns\":$((at + $3)),\"return_ns\":$((at + $3 + 100000 - rank)),\"timing\":\"call\"}"
		}
		op $seq 1000000 1000000
		op $((seq + 1)) 4000000 5000000
		[ $((step % 4)) -ne 3 ] || op $((seq + 2)) 4 7000000
	done
done >job.jsonl
commtrace import jsonl job.jsonl -o run1 >/dev/null
commtrace report run1 --verbose | grep '^steps'
commtrace report run1 --step-anchor=job:0:AllReduce:4000000 --verbose | grep '^steps'
commtrace report run1 --step-anchor='00c0:allreduce:4' --verbose | grep '^steps'
commtrace report run1 --step-anchor='*:AllReduce' --verbose | grep '^steps'
# sizes as the report prints them are all that are printed so
commtrace report run1 --step-anchor='*:AllReduce:977KiB' --verbose | grep '^steps'
commtrace report run1 --step-anchor='*:allreduce:3.81mib' --verbose | grep '^steps'
commtrace report run1 --format=json | sed -n '/^ "steps": {/,/"items"/p' | sed 's/\(_pct": [0-9]*\.[0-9]\)[0-9]*/\1/'
# the next commands are about the same steps
commtrace report run1 --step-anchor='*:AllReduce:977KiB' --skip-steps=2 | grep commtrace
for wrong in job:0:AllReduce:5 job:0:Barrier job:1:AllReduce '*:AllReduce:986KiB' \
	AllReduce '' : '*:AllReduce:-1' '*:AllReduce:nan' '*:AllReduce:28MB' '*:AllReduce:' '*:AllReduce:1.5' '*:Frobnicate:4' job:0 :AllReduce; do
	commtrace report run1 --step-anchor="$wrong"
	echo "exit $?"
done
commtrace import jsonl <(head -2 job.jsonl) -o run2 >/dev/null
commtrace report run2 --verbose | grep '^steps'
# operations that come too rarely are not offered
commtrace import jsonl <(cat job.jsonl; grep -m2 '"bytes":4,' job.jsonl | sed 's/"seq":[0-9]*/"seq":500/; s/"bytes":4,/"bytes":96,/') -o run3 >/dev/null
commtrace report run3 --step-anchor=job:0:AllReduce:5
commtrace report run2 --step-anchor=job:0:AllReduce:5
