#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Processes of which no line shows the rank: it is "?", and not the rank -1.
python3 "$data/lines.py" unranked | commtrace import jsonl - -o run
commtrace report run | sed '/^$/q'
commtrace hang run
commtrace info run | sed -n '/^processes/,/^$/p'
for what in report info hang; do
	commtrace $what run | grep -e '[^0-9.]-1\b' && echo "$what shows -1"
done
true
