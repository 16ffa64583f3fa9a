#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --run: the program itself is started once, its output is not the doctor's, and nothing of it stays. Without, it is not started.
. "$data/doctor.bash"
job=("$build/bin/commtrace-simjob" --ranks 2 --steps 1 --scale 4096 --timing none)
printf '#!/bin/sh\necho started >>%s/log\nexec "$@"\n' "$PWD" >job
chmod +x job
ask RUN -- ./job "${job[@]}"
[ ! -e log ] || echo "it was started"
ask RUN --run -- ./job "${job[@]}" | sed -E 's/and [0-9]+ op/and N op/; /^step=/d; s/^checksum.*//'
cat log
ask RUN --run -- ./job true
ls -A "$TMPDIR"
ls -A "$COMMTRACE_RING_DIR"
# What a program opens while it runs: no look at its files shows it, the run does.
unseen=("$build/tests/e2e/unseen_job" "$build/tests/e2e/unseen_hidden.so")
ask 'NCCL_.*' -- "${unseen[@]}"
ask 'NCCL_.*' --run -- "${unseen[@]}"
