#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The queries of docs/how-to/PERFETTO.md, in Perfetto's own engine: of a job on GPUs with a slow rank, of one with groups, messages and a hang, of
# one that the host times, and of one of which a rank stops calling. Each number that can be reported elsewhere is the report's or that of the operations.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
page=$root/docs/how-to/PERFETTO.md
commtrace=$CT_BUILD/bin/commtrace
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
engine=$("$here/fetch.sh")

"$CT_BUILD/bin/commtrace-synth" -o slow --workload ddp --steps 20 --fault slow-rank:rank=5,pct=30
awk -v seed=3 -v hosts=1 -v ranks=4 -v steps=8 -v stop=1 -f "$here/gpu_job.awk" >lines
"$commtrace" import jsonl lines -o gpu >/dev/null
"$commtrace" import jsonl "$here/../cli/data/four_ranks.jsonl" -o host >/dev/null
"$CT_BUILD/bin/commtrace-synth" -o hung --hosts 2 --gpus-per-host 4 --workload megatron --tp 2 --pp 2 --dp 2 --steps 20 --fault missing:rank=5,op=120
for run in slow gpu host hung; do
	"$commtrace" timeline $run -o $run.pftrace >/dev/null 2>&1
	"$commtrace" report $run --format=json >$run.json 2>/dev/null
	"$commtrace" dump --calls $run --format=jsonl >$run.jsonl 2>/dev/null
done
node --liftoff-only "$here/recipes.mjs" "$engine" "$page" slow.pftrace gpu.pftrace host.pftrace hung.pftrace >answers
python3 "$here/recipes.py" answers slow gpu host hung
