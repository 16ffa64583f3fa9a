#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Work on GPUs through dump and import: launches of several operations, what has no time, two ranks in a process.
commtrace import jsonl "$data/gpus.jsonl" -o run1
commtrace dump run1 -o first.jsonl
# An imported process has one rank, so its threads are counted anew; all else is as given.
diff <(sed 's/"lane":[0-9]*,//' "$data/gpus.jsonl" | sort) <(sed 's/"lane":[0-9]*,//' first.jsonl | sort)
commtrace import jsonl first.jsonl -o run2
commtrace dump run2 --format=jsonl | cmp - first.jsonl
# Streams, devices and groups of what was launched; nothing of what had nothing to launch.
sed -nE 's/.*"rank":3,.*"op":"([A-Za-z]*)".*"(stream":.*),"enter.*"(timing.*),"site.*/\1 \2 \3/p' first.jsonl | tail -n 10 | tr -d '"'
commtrace dump run1 --ranks 3 | tail -n 10
commtrace report run1 --verbose | sed -n '/^operation/,/^$/p'
