#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# comm_bench under Slurm's srun, as docs/how-to/BENCH.md has it: both tasks are recorded, and bench reads the run.
# `--possible`: whether this machine has Slurm and may start its daemons.
. "$(dirname "${BASH_SOURCE[0]}")/slurm.sh"
[ "${1:-}" != --possible ] || { slurm_possible; exit; }
. "$(dirname "$0")/../mpi/mpi.sh"
export COMMTRACE_QUIET=1
trap 'slurm_stop; cleanup' EXIT

slurm_start "$work/slurm" || fail "no cluster: $(tail -n 3 "$work"/slurm/*.log "$work"/slurm/*.out)"
# Debian's Open MPI and Slurm have no PMI in common; MPICH's own is Slurm's pmi2.
timeout -k 5 120 "$commtrace" bench run --json -- srun --mpi=pmi2 -n 2 --oversubscribe "$build/bin/comm_bench_mpi.mpich" \
	-b 1K -e 4K -n 10 -N 8 --ops all_reduce >out 2>err || fail "srun: exit $?: $(cat err)"
said=$("$python" -c '
import json
print(*((row["op"], row["ranks"], row["bytes"]) for row in json.load(open("out"))["rows"]))')
[ "$said" = "('AllReduce', 2, 1024) ('AllReduce', 2, 2048) ('AllReduce', 2, 4096)" ] || fail "bench: $said: $(cat out)"
echo "$said"
