#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Times that go back are reported as that, with process, host and by how much.
for which in yes no; do
	python3 "$data/lines.py" backwards $which | commtrace import jsonl - -o run --force
	commtrace report run --format=kv | grep -e MONOTONIC -e CHANGE || true
	commtrace report run --format=json | jq -c '[.. | strings | select(test("MONOTONIC"))], [.findings[].kind]'
done
