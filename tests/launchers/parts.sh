#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recipes of docs/SCALE.md, unchanged: xargs, and a Slurm array of 8 tasks on a cluster of this machine, give the bytes of one process.
. "$(dirname "${BASH_SOURCE[0]}")/slurm.sh"
[ "${1:-}" != --possible ] || { slurm_possible; exit; }
. "$(dirname "$0")/../e2e/e2e.sh"
trap 'slurm_stop; cleanup' EXIT
export PATH=$build/bin:$PATH

# recipe N: the N-th block of shell commands.
recipe() {
	awk -v n="$1" '/^```/ { inside = !inside && $0 == "```sh" && ++k == n; next } inside' "$root/docs/SCALE.md"
}

commtrace-synth -o run1 --workload megatron --hosts 2 --gpus-per-host 8 --steps 6 --fault slow-rank:rank=5,pct=20 || fail "no run"
commtrace report run1 >one

recipe 1 >xargs.sh
[ "$(grep -c 'commtrace' xargs.sh)" = 2 ] || fail "no recipe: $(cat xargs.sh)"
bash -e xargs.sh >out || fail "xargs: exit $?"
sed '/^part[0-9]: /d' out | cmp - <(sed 's/run1/part1 part2 part3 part4 part5 part6 part7 part8/g' one) || fail "xargs: $(diff out one)"
echo "xargs: the bytes of one process"

rm -r part?
recipe 2 >parts.sh
[ "$(grep -c 'commtrace' parts.sh)" = 1 ] || fail "no recipe: $(cat parts.sh)"
slurm_start "$work/slurm" SchedulerParameters=batch_sched_delay=0,sched_interval=1 || fail "no cluster: $(tail -n 3 slurm/*.log slurm/*.out)"
sbatch --wait --oversubscribe -o "$work/array.%a" parts.sh >id 2>err || fail "sbatch: $(cat err array.*)"
[ "$(ls -d part? | wc -l)" = 8 ] || fail "parts: $(ls; cat array.*)"
commtrace report part? | cmp - <(sed 's/run1/part1 part2 part3 part4 part5 part6 part7 part8/g' one) || fail "an array: other bytes"
echo "a Slurm array of 8 tasks: the bytes of one process"
