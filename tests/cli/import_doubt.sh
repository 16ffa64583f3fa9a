#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What hardly any operation was matched for, or what stands in operations at the end, is not called healthy with confidence.
for scene in unmatched seven_of_eight one_of_eight few_collectives; do
	python3 "$data/lines.py" "$scene" | commtrace import jsonl - -o "$scene"
	commtrace report "$scene" | sed '/^$/q'
done
# hang lists the oldest by rank, whichever is older, and how many it leaves out
python3 "$data/lines.py" seven_of_eight | python3 -c '
import json, sys
for op in map(json.loads, sys.stdin):
    op["enter_ns"] -= 0 if op.get("end_ns") else 2000 * op["rank"]
    print(json.dumps(op))' | commtrace import jsonl - -o by_rank
commtrace hang by_rank | grep -A3 'in flight  '
