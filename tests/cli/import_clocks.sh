#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two pairs of ranks that meet at different rates, in whatever order their lines come, relate the clocks of their hosts.
python3 "$data/lines.py" two_rates >in.jsonl
commtrace import jsonl in.jsonl -o run1
tac in.jsonl | commtrace import jsonl - -o run2
for run in run1 run2; do
	{ commtrace report "$run" --format=kv; commtrace report "$run" --verbose; } | grep -e CLOCK_CONFLICT -e ^clocks
	commtrace info --whole "$run" --format=json | jq -c '.clocks[] | select(.host == "b") | [.quality, (.offset_ns - 123456 | fabs < 1000)]'
done
