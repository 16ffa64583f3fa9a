#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench: times that the input states, and which library is fastest at which sizes; what scripts get; bad use.
python3 "$data/bench.py" .
for run in gloo1 gloo2 mpi1 mpi2; do
	commtrace import jsonl $run.jsonl -o $run >/dev/null
done
commtrace bench gloo=gloo1 gloo=gloo2 mpi=mpi1 mpi=mpi2
echo "one run of each: a note"
commtrace bench gloo1/ ./mpi1 | tail -n 2
echo "equal:"
commtrace bench a=gloo1 a=gloo2 b=gloo2 b=gloo1 | grep -c fastest
commtrace bench gloo1 mpi1 -o bench.json
commtrace bench gloo1 mpi1 --json | cmp - bench.json
python3 -c '
import json
j = json.load(open("bench.json"))
for of in j, j["rows"][0], j["fastest"][0]:
    print(*of)
print([(r["op"], r["from_bytes"], r["to_bytes"], r["series"]) for r in j["fastest"]])
print(j["rows"][0])'
commtrace bench
echo "exit $?"
commtrace bench gloo=nowhere
echo "exit $?"
grep Barrier gloo1.jsonl | head -n 1 | commtrace import jsonl - -o once >/dev/null
commtrace bench once
echo "exit $?"
commtrace bench gloo1 failed -- sh -c 'echo printed; exit 5'
echo "exit $?"
commtrace bench -- true
echo "exit $?"
