#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rows and lines say of what their figures are: the row in which a rank spends most time is first, not one of 4 bytes for which many
# ranks wait once; gaps are of a rank's steps; what is not known has a reason.
commtrace-synth -o run --seed 1 --workload megatron --hosts 4 --gpus-per-host 8 --tp 8 --pp 2 --dp 2 --steps 8 >/dev/null
commtrace report run --verbose >text
grep '^idle ' text | sed -E 's/([0-9.]+ [mun]*s|[0-9.]+) ± [0-9.]+ [mun]*s\b/T ± T/g; s/[0-9.]+ [mun]*s\b/T/g; s/rank [0-9]+/rank N/'
grep '^score ' text | sed 's/[0-9][0-9]*/N/g'
grep -A 1 "^operation " text | tail -n 1 | cut -d" " -f 1,2
