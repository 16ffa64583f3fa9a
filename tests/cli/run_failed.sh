#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One of four ranks gives up, its launcher ends the others: `run` names that one, and `info` says how each has ended and
# does not call the job complete.
job=("$build/bin/commtrace-simjob" --ranks 4 --steps 30 --step-ms 20)
for fault in exit:rank=2,op=40,code=3 kill:rank=1,op=40; do
	rm -rf run1
	commtrace run -o run1 -- "${job[@]}" --fault "$fault" >out 2>err
	echo "exit $?"
	sed -n 's/^commtrace: \(rank .*\)/\1/p' err | sed 's/(pid [0-9]* on [^)]*)/(pid)/'
	commtrace info --whole run1 | sed -n 's/,.* recorded.*//; s/(pid [0-9]*)/(pid)/; /^[a-z ]*: [0-9] of\|^failed/p'
	commtrace info run1 | awk '/^processes/ { on = 1; next } /^$/ { on = 0 } on && $1 ~ /^[0-3]$/ { print $1, $9, $10 }'
done
