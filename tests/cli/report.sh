#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run made from lines: the late rank is named, and the JSON holds the same.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1
commtrace report run1
[ "$(commtrace report run1 --color=never | wc -l)" -le 25 ] || echo "more than 25 lines"
[ "$(commtrace report run1 | wc -L)" -le 80 ] || echo "more than 80 columns"
commtrace report run1 -o report.txt
cmp report.txt <(commtrace report run1)
