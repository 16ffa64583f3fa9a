#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run --partial: two nodes, each with a directory of its own for what it records, leave their parts in one directory. The exit status stays that of
# the job, and what a killed `run` leaves is made a part by hand.
cat >job <<'EOF_JOB'
mkdir -p store
for rank in "$@"; do
	RANK=$rank WORLD_SIZE=4 "$CT_GLOO_JOB" --rank $rank --size 4 --store store --ops 50 &
done
wait
exit 7
EOF_JOB
node() {
	local node=$1
	shift
	commtrace run -o "at$node" --partial=parts --job pair --set HOST="node$node" -- bash job "$@" >/dev/null 2>"err$node"
	echo "node $node: exit $?"
}
same() { cmp <(commtrace report --json "${@:1:2}" | jq -S 'del(.run.dir, .verdict.command, .findings[].command)') <(commtrace report --json "${@:3}" | jq -S 'del(.run.dir, .verdict.command, .findings[].command)'); }
node 0 0 1 >said0 &
node 1 2 3
wait
cat said0
sed -nE 's|^commtrace: (part) .*/(parts/node[01]): (2 of 2 processes).*|\1 \2 \3|p' err0 err1
ls parts
same at0 at1 parts/node0 parts/node1 && echo same
# once more into the same directories, as a restart of the job has it: the new parts have both
rm -r store
node 0 0 1 >said0 &
node 1 2 3
wait
ls parts
commtrace info --json parts/* | grep -c '"pid":'
# another job
(commtrace run -o other --partial=parts --job other --set HOST=node0 -- true || echo "exit $?") 2>&1 | sed -E 's|/[^ ]*/||g; s/node0\.[^ ]*/FILE/'

# One directory that all nodes see: each takes its own.
rm -r store at1
node 0 0 1 >said0 &
commtrace run -q -o at0 --partial=shared --job pair --set HOST=node1 -- bash job 2 3 >/dev/null
wait
commtrace info --json shared/node1 | jq -c '[.processes[].host] | unique'
ls shared

# What was recorded long before the end stays on the node. (The synthetic run stands for one that was recorded.)
commtrace-synth -o long --workload ddp --hosts 2 --gpus-per-host 2 --steps 800 --step-ms 100 --seed 2 --fault slow-rank:rank=1,pct=20
for node in 0 1; do
	commtrace run -q -o "long$node" --partial=late --keep=30 --set HOST="node$node" -- cp -r $(echo long/node$node.*) "long$node"
done
commtrace report --json late/* | jq -c '[.verdict.code, .findings[0].ranks, .run.omitted_ns > 0]'
commtrace report --json long | jq -c '[.verdict.code, .findings[0].ranks, .run.omitted_ns > 0]'

# A damaged file that belongs to no process goes with its host.
head -c 3000 /dev/zero | tee node0.0000.7.7.0.seg node0.x.0000.7.7.0.seg >node1.0000.7.7.ring.zst
for node in 0 1; do
	commtrace run -q -o "bad$node" --partial=badly --set HOST="node$node" -- cp -r $(echo long/node$node.*) node?.* "bad$node" 2>err
	(cd badly && ls "node$node" | grep -F .7.7.)
done

# The directory goes away, or `run` itself.
commtrace run -o gone0 --partial=gone --set HOST=node0 -- sh -c 'cp long/node0.* gone0; rmdir gone; exit 5' 2>err
echo "exit $?"
sed -E 's|/[^ ]*/||g' err
(commtrace run -q -o killed --partial=kept --set HOST=node0 -- sh -c 'cp long/node0.* killed; kill -KILL $PPID'; echo "exit $?") 2>/dev/null
ls kept
commtrace partial killed -o kept/node0 --keep=30 | sed -E 's/, [0-9]+ op/, N op/; s/[0-9.]+ [KM]?i?B/N MiB/'

echo == usage
for options in "--keep=60" "--exact" "--partial=job" "--partial=no/where" "--set DIR=there"; do
	commtrace run -q -o run $options -- true || echo "exit $?"
done
ls -d run there 2>/dev/null

# The part is not the run itself, and a host without a process on record has none.
mkdir self
(commtrace run -q -o self/node0 --partial=self --keep=30 --set HOST=node0 -- cp long/node0.* self/node0; echo "exit $?") 2>&1 | sed -E 's|/[^ ]*/||g'
ls self
(commtrace run -q -o away --partial=none --set HOST=login -- cp long/node0.* away; echo "exit $?") 2>&1 | sed -E 's|/[^ ]*/||g'
ls none
