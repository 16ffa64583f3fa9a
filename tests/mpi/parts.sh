#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# commtrace-mpi: the bytes of one process, from 1, 2 and 4 of them, where all see the run and where each node has only its own files. A
# process that is killed leaves an error and no result.
. "$(dirname "$0")/mpi.sh"
unset LD_PRELOAD
export TMPDIR=$work/tmp CT_WORK=$work
mkdir tmp
program=$build/bin/commtrace-mpi.$flavour
"$build/bin/commtrace-synth" -o run --workload ddp --hosts 4 --gpus-per-host 2 --steps 30 --fault slow-rank:rank=3,pct=20 || fail "no run"
"$build/bin/commtrace-synth" -o hung --workload ddp --hosts 4 --gpus-per-host 2 --steps 8 --fault missing:rank=5,op=20 || fail "no run"

for n in 1 2; do
	mpi_start 60 $n "$program" report --json run >got.json 2>err || fail "$n processes: exit $?: $(cat err)"
	cmp got.json <("$commtrace" report --json run) || fail "$n processes: other bytes"
done
echo "one file system: the bytes of one process"

# Each node has the files of one host of the job, and looks for them under the same name.
for n in 0 1 2 3; do
	mkdir -p node$n/run node$n/hung
	cp run/*"$(ls run | cut -d. -f1 | sort -u | sed -n "$((n + 1))p")".* node$n/run
	cp hung/*"$(ls hung | cut -d. -f1 | sort -u | sed -n "$((n + 1))p")".* node$n/hung
done
cat >on_node <<'END'
#!/bin/sh
cd "$CT_WORK/node${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && exec "$@"
END
chmod +x on_node
mpi_start 60 4 ./on_node "$program" report --json run >got.json 2>err || fail "nodes: exit $?: $(cat err)"
cmp got.json <("$commtrace" report --json run) || fail "nodes: other bytes"
# Open MPI takes seconds to end a job whose command exits with 3.
if [ "$flavour" = mpich ]; then
	code=0
	mpi_start 60 4 ./on_node "$program" hang --json hung -o "$work/hang.json" >out 2>err || code=$?
	[ $code = 3 ] || fail "nodes, hang: exit $code: $(cat out err)"
	cmp hang.json <("$commtrace" hang --json hung) || fail "nodes, hang: other bytes"
fi
mpi_start 60 4 ./on_node "$program" timeline run -o "$work/run.tsv" >out 2>err || fail "nodes, timeline: exit $?: $(cat out err)"
"$commtrace" timeline run -o one.tsv >/dev/null && cmp run.tsv one.tsv || fail "nodes, timeline: other bytes"
echo "node by node: the bytes of one process"
[ -z "$(ls tmp)" ] || fail "it leaves files: $(ls -R tmp)"

# The third process is killed before it has sent anything.
cat >limited <<'END'
#!/bin/sh
cd "$CT_WORK/node${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 2 ] || (sleep 0.5; kill -KILL $$) &
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 2 ] || exec sleep 100
exec "$@"
END
chmod +x limited
code=0
mpi_start 60 4 ./limited "$program" report --json run -o "$work/no.json" >out 2>err || code=$?
[ $code != 0 ] || fail "a killed process: exit 0"
[ ! -e no.json ] || fail "a killed process: a result"
grep -qi 'killed\|kill\|signal' err out || fail "a killed process: no error: $(cat out err)"
echo "a killed process: an error, no result"

code=0
mpi_start 60 1 "$program" record run >out 2>err || code=$?
[ $code != 0 ] && grep -q "'record' is no command that analyzes a run" err || fail "no command: exit $code: $(cat err)"
