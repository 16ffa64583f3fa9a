#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# RUN appears when it is whole, and replaces nothing but an empty directory, or with --force a recording.
lines=$data/four_ranks.jsonl
commtrace import jsonl "$lines" -o run1
commtrace import jsonl "$lines" -o run1 || echo "exit $?"
commtrace import jsonl "$lines" -o run1 --force
mkdir empty other
commtrace import jsonl "$lines" -o empty
touch other/thesis.tex file
commtrace import jsonl "$lines" -o other --force || echo "exit $?"
commtrace import jsonl "$lines" -o file --force || echo "exit $?"
commtrace import jsonl "$lines" -o no/where || echo "exit $?"
echo '}' | cat "$lines" - >bad.jsonl
commtrace import jsonl bad.jsonl -o run1 --force || echo "exit $?"
commtrace dump run1 | wc -l
ls
