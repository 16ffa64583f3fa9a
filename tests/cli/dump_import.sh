#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What dump writes, import reads, and dump writes the same again.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1
commtrace dump run1 -o first.jsonl
commtrace import jsonl first.jsonl -o run2
commtrace dump run2 --format=jsonl | cmp - first.jsonl
commtrace dump run2 --format=jsonl | commtrace import jsonl - -o run3
commtrace dump run3 -o - --format=jsonl | cmp - first.jsonl
commtrace dump run1 --ranks 0 --limit 3
commtrace dump run1 --limit 0
commtrace dump run1 --comm 00000000c0ffee01 | wc -l
commtrace dump run1 --comm 00000000c0ffee02 | wc -l
commtrace dump run1 | grep -E ' (Send|Recv|Barrier) '
head -n 1 first.jsonl
