#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A rank inside a call that moves no data: its call site, as text, JSON and in the timeline. It is a call's begin that
# shows; what import reads, dump writes again.
commtrace import jsonl "$data/inside_call.jsonl" -o run
commtrace hang run | grep -A 1 'inside cuda'
commtrace hang run --json | tr -d '\n ' | grep -o '"name":"inside_call_site","rank":1,"value":null,"unit":null,"text":"[^"]*"'
commtrace dump --calls --format=jsonl run >dump
grep -c '"site":"train.py:77 log_loss < train.py:90 main"' dump
grep -c '"site":"watch.py:3 watch"' dump
commtrace import jsonl dump -o again
commtrace dump --calls --format=jsonl again | cmp - dump
commtrace timeline run -o - --format=tuples | grep cuda
