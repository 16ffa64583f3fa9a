#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job of more processes than files may be open is read whole, or it is said that it cannot be.
commtrace-synth --hosts=8 --gpus-per-host=8 --steps=10 -o run1 >/dev/null
commtrace report run1 >whole.txt
(ulimit -Sn 40 && commtrace report run1) | cmp - whole.txt && echo same
for threads in 1 4; do
	(ulimit -n 40 && commtrace report run1 --threads=$threads) || echo "exit $?"
done
