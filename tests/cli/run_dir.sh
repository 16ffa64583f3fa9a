#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A directory that holds another recording is refused, and so is what is not a directory.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null
commtrace run -o run1 -- true 2>&1 | sed 's|: /.*/run1/[^ ]*|: FILE|' >&2
commtrace run -o run1 -- true 2>/dev/null
echo "exit $?"
# The same job, as other hosts of it would say: no refusal.
commtrace run -q -o run1 --job import -- true
echo "exit $?"
commtrace run -q -o run1 --force -- true
echo "exit $?"
mkdir empty
commtrace run -q -o empty -- true
echo "exit $?"
COMMTRACE_DIR=there commtrace run -q -- sh -c 'basename "$COMMTRACE_DIR"; ls -d there'
commtrace run -q -- sh -c 'basename "$COMMTRACE_DIR"' | grep -cE '^commtrace-[0-9]{8}-[0-9]{6}(-[0-9]+)?$'
SLURM_JOB_ID=77 SLURM_STEP_ID=3 commtrace run -q -- sh -c 'basename "$COMMTRACE_DIR"'
# Made for nothing: gone again; found there: still there.
ls
