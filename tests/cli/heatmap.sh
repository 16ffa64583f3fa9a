#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Heatmaps: numbers, SVG and PNG agree with the report and with each other; and each way in which there is none.
commtrace-synth -o run1 --seed 3 --hosts 2 --gpus-per-host 4 --steps 6 --workload megatron --tp 2 --pp 2 --dp 2 \
	--fault slow-rank:rank=5,ms=20 >/dev/null
look() {
	python3 "$data/heatmap.py" "$@" || echo "failed: $*"
}
look run1
look run1 --layer count --by host
look run1 --role pp --layer bandwidth
look run1 --role tp
look run1 --backend nccl
look run1 --type waits
look run1 --type waits --layer lateness --by host
look run1 --type steps
look run1 --type steps --by host
# How much longer a step takes by each rank: a pipeline, and a job without one.
commtrace-synth -o run3 --seed 3 --hosts 2 --gpus-per-host 4 --steps 24 --workload megatron --tp 2 --pp 2 --dp 2 \
	--fault slow-rank:rank=5,ms=20 >/dev/null
look run3 --type slowdown
commtrace-synth -o run4 --seed 3 --hosts 2 --gpus-per-host 2 --steps 24 --workload ddp --fault slow-rank:rank=1,ms=9 >/dev/null
look run4 --type slowdown
# Too many cells for each to show.
commtrace-synth -o run2 --seed 3 --hosts 2 --gpus-per-host 8 --steps 5 --workload ddp >/dev/null
look run2 --type waits

# Names as foreign programs may have them, whatever a spreadsheet, XML or a terminal would make of them.
sed 's|"node1"|"<text><script>alert(1)\&amp;"|; s|"node2"|"=1+1,\\"x\\u202e\\ud83d\\ude00"|; s|"world"|"]]><!--"|' \
	"$data/four_ranks.jsonl" >hostile.jsonl
commtrace import jsonl hostile.jsonl -o hostile >/dev/null
look hostile --by host
look hostile --comm ']]><!--'
look hostile --comm 00000000c0ff
look hostile --type waits --by host

try() {
	printf '$ commtrace heatmap %s\n' "$*" >&2
	commtrace heatmap "$@" || echo "exit $?" >&2
}
try run1 -o x.svg
try run1 -o x.svg
try run1 -o y.png --type waits
commtrace heatmap run1 --format png --type waits | cmp - y.png
commtrace heatmap run1 -o - --format svg | cmp - x.svg
# Without librsvg.
mkdir bare
ln -s "$(command -v commtrace)" bare/
PATH=$PWD/bare try run1 -o w.png
rm -r bare
try run1 -o w.csv --comm nobody 2>&1 | sed 's/[0-9a-f]\{16\}/KEY/g'
try run1 -o w.csv --role ep
try run1 -o w.csv --backend mpi
try run1 -o w.csv --role tp --layer bandwidth
commtrace-synth -o short --seed 3 --hosts 1 --gpus-per-host 2 --steps 1 --workload ddp >/dev/null
try short -o w.csv --type steps
commtrace-synth -o none --seed 55 --gpus-per-host 2 --steps 40 --workload ddp --fault kill:rank=1,op=9 >/dev/null
try none -o w.csv --type steps
try none -o anchored.csv --type steps --step-anchor '*:AllReduce'
try short -o w.csv --by host
try run1 -o w.csv --type slowdown
mkdir empty
try empty -o w.csv
try run1 -o no/w.svg
try run1 -o /dev/full --format svg
try run1 -o /dev/full --format png
# What is wrongly asked for.
try run1
try -o w.svg
try run1 -o w.txt
try run1 -o w.svg --type everything
try run1 -o w.svg --type waits --layer bytes
try run1 -o w.svg --type waits --comm 1234
try run1 -o w.svg --type steps --backend nccl
try run1 -o w.svg --type waits --step-anchor '*:AllReduce'
try run3 -o w.svg --type slowdown --by host
try run1 -o w.svg --comm a --role b
try run1 -o w.svg --by node
ls
