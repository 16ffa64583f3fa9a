#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stacks and heaps of many threads do not fit into little address space, what one thread needs does: it is done by that one, with
# the same result.
commtrace-synth --gpus-per-host=8 --steps=60 -o run1 >/dev/null
commtrace report run1 --threads=1 >alone.txt
commtrace timeline run1 --threads=1 -o alone.pftrace >/dev/null
for space in 400000 200000 100000; do
	(ulimit -v $space && commtrace report run1 --threads=64) | cmp - alone.txt && echo "same report in $space KB"
	(ulimit -v $space && commtrace timeline run1 --threads=64 --force -o shared.pftrace >/dev/null) || echo "exit $?"
	cmp shared.pftrace alone.pftrace && echo "same timeline in $space KB"
done
