#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What hardly any operation was matched for, or what stands in operations at the end, is not called healthy with confidence.
for scene in unmatched seven_of_eight one_of_eight few_collectives; do
	python3 "$data/lines.py" "$scene" | commtrace import jsonl - -o "$scene"
	commtrace report "$scene" | sed '/^$/q'
done
