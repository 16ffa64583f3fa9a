#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `hang` is given and cannot use: each with an exit status of its own and a word on what to do.
commtrace-synth -o run --seed 1 --gpus-per-host 2 --steps 2 >/dev/null
mkdir empty outer
ln -s ../run outer/run
echo "no trace" >text.seg
for args in "" nope empty outer text.seg "run --restart=1" "run --restart=x" "run -o x.html" "run --format=csv"; do
	# shellcheck disable=SC2086
	commtrace hang $args
	echo "exit $?: $args" >&2
done
commtrace hang run -o one.json
commtrace hang run --json | cmp - one.json
commtrace hang run -o one.json
echo "exit $?: a file that is there" >&2
# One rank alone, two jobs as one run.
commtrace-synth -o other --seed 2 --gpus-per-host 2 --steps 2 >/dev/null
rm "$(find run -name '*.seg' | sort | sed -n 2p)"
commtrace hang run | head -1
commtrace hang run other >both
echo "exit $?: two jobs" >&2
