#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# commtrace-mpi: the bytes of one process, from 1, 2 and 4 of them, where all see the run and where each node has only its own files; with --keep
# those of thinned parts. A process that is killed leaves an error, and neither a result nor files.
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
# Open MPI gives process 0 a terminal; the output goes into a file all the same.
TERM=xterm mpi_start 60 2 "$program" report run >got.txt 2>err || fail "text: exit $?: $(cat err)"
same "text" got.txt <("$commtrace" report run)
TERM=xterm mpi_start 60 1 "$program" info run --color=always >got.txt 2>err || fail "colors: exit $?: $(cat err)"
same "colors" got.txt <("$commtrace" info run --color=always)
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
# Commands to paste have the run as it was typed: the directory of process 0 goes away.
mpi_start 60 4 ./on_node "$program" report run >got.txt 2>err || fail "nodes, text: exit $?: $(cat err)"
grep -q '^next      commtrace report run --verbose$' got.txt && ! grep -q tmp got.txt || fail "nodes, text: $(cat got.txt)"
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

# A job on two nodes, with a `commtrace run` for each rank: the last one of each node leaves its part, and the parts are the run.
cat >recorded <<'END'
#!/bin/sh
node=$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} / 2))
exec "$CT_COMMTRACE" run -q -o "$CT_WORK/rec$node" --partial="$CT_WORK/left" --job pair --set HOST=node$node -- "$@"
END
chmod +x recorded
CT_COMMTRACE=$commtrace mpi_start 60 4 ./recorded "$(mpi_program linked_stencil)" --steps 50 >out 2>err || fail "run --partial: exit $?: $(cat out err)"
cmp <("$commtrace" report --json left/* | jq -S 'del(.run.dir, .verdict.command, .findings[].command)') <("$commtrace" report --json rec0 rec1 | jq -S 'del(.run.dir, .verdict.command, .findings[].command)') ||
	fail "run --partial: other bytes: $(ls -R left rec0 rec1)"
[ "$("$commtrace" report --json left/* | jq '.run | .ranks_seen, .complete')" = $'4\ntrue' ] || fail "run --partial: $(ls -R left rec0 rec1)"
[ "$(cd left && echo *)" = "node0 node1" ] || fail "run --partial: $(ls -R left)"
echo "a job on two nodes: the parts are the run"

# What is left out is what `commtrace partial` leaves out, of all processes.
"$build/bin/commtrace-synth" -o long --workload ddp --hosts 4 --gpus-per-host 1 --steps 4800 --step-ms 50 --fault slow-rank:rank=3,pct=20 || fail "no run"
"$commtrace" partial long -o thin --keep=120 >/dev/null
for n in 0 1 2 3; do
	mkdir -p node$n/long
	mv long/node$n.* node$n/long
done
# near WHAT MODEL: the bytes that process 0 got are those of docs/SCALE.md, within a tenth.
near() {
	local got
	got=$(sed -nE 's/^commtrace: process 0 of 4 got [0-9]+ files, ([0-9]+) bytes$/\1/p' err)
	[ -n "$got" ] && [ $((10 * got)) -ge $((9 * $2)) ] && [ $((10 * got)) -le $((11 * $2)) ] || fail "$1: $got bytes, not $2: $(cat err)"
}
mpi_start 60 4 ./on_node "$program" -v dump long -o "$work/long.txt" >out 2>err || fail "bytes: exit $?: $(cat err)"
near "bytes" "$(cat node[1-3]/long/* | wc -c)"
mpi_start 60 4 ./on_node "$program" -v --keep=120 report --json long >got.json 2>err || fail "--keep: exit $?: $(cat err)"
cmp got.json <("$commtrace" report --json thin) || fail "--keep: other bytes"
grep -q '"omitted_ns": 0' got.json && fail "--keep: nothing is left out"
# two minutes as they were recorded, and 3 kB for each minute before
all=$(jq '.run | (.duration_ns + .omitted_ns) / 1e9 | floor' got.json)
near "--keep" $(($(cat node[1-3]/long/* | wc -c) * 120 / all + 3 * (all - 120) * 3000 / 60))
echo "--keep: the bytes of thinned parts"

# gone: no file is left in TMPDIR, a moment after the processes have ended.
gone() {
	for _ in $(seq 100); do
		[ -n "$(ls tmp)" ] || return 0
		sleep 0.1
	done
	fail "$1: it leaves files: $(ls -R tmp)"
}
# killed WHAT PROGRAM...: process 2 of 4 is, so that the job fails, and has no result.
killed() {
	local what=$1 code=0
	shift
	mpi_start 60 4 "$@" "$program" report --json run -o "$work/no.json" >out 2>err || code=$?
	[ $code != 0 ] || fail "$what: exit 0"
	[ ! -e no.json ] || fail "$what: a result"
	# Open MPI may end before the process that would say so, and says it then
	grep -q "ended before all parts had come: no result\|exited on signal 9" err || fail "$what: no error: $(cat out err)"
	gone "$what"
	echo "$what: an error, no result, no files"
}
cat >before <<'END'
#!/bin/sh
cd "$CT_WORK/node${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 2 ] || exec "$@"
# those that are killed before they begin have no error
until [ "$(ls "$TMPDIR" | wc -l)" = 3 ]; do sleep 0.05; done
kill -KILL $$
END
cat >while <<'END'
#!/bin/sh
cd "$CT_WORK/node${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 2 ] || export LD_PRELOAD=$LD_PRELOAD:$CT_SHIM
exec "$@"
END
chmod +x before while
export CT_SHIM=$mpi/die_in_read.so
killed "killed before it sends anything" ./before
killed "killed in the middle of a file" ./while
# Whoever is killed while it begins leaves nothing, either. Open MPI takes seconds to end a job that fails.
cat >at_once <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 2 ] || exec "$@"
kill -KILL $$
END
chmod +x at_once
for try in 1 2 3; do
	[ "$flavour" = mpich ] || break
	mpi_start 60 4 ./at_once "$program" report --json run -o "$work/no.json" >out 2>err && fail "killed at once, $try: exit 0"
	gone "killed at once, $try"
done

prefix=()
# refused WHAT CODE TEXT WORD...: with this exit status and message, which is there once.
refused() {
	local what=$1 want=$2 text=$3 code=0
	shift 3
	mpi_start 60 2 "${prefix[@]}" "$program" "$@" >out 2>err || code=$?
	# a launcher may give another one
	[ $code != 0 ] || fail "$what: exit 0, not $want"
	[ "$(grep -c -- "$text" err)" = 1 ] || fail "$what: $(cat out err)"
	! grep -q "$work/tmp" err || fail "$what: it names its own directory: $(cat err)"
	gone "$what"
}
refused "no run" 1 "cannot read the run: nosuch: No such file or directory" report nosuch
grep -q "none of the 2 processes of the MPI job sees a recording there" err || fail "no run: no reason: $(cat err)"
# The error of one node is not that it has no files.
mkdir -p node0/bad node0/cut node1/cut node1/loop
cp node0/run/* node0/bad
cp node0/run/* node0/cut
echo "not a recording" >node1/bad
for file in node1/run/*; do
	head -c "$(stat -c %s "$file")" /dev/zero >node1/cut/"${file##*/}"
done
ln -s loop node1/loop/loop
mpi_start 60 2 ./on_node "$program" report --json cut >got.json 2>err || fail "a damaged node: exit $?: $(cat err)"
[ "$(grep -c "warning: on .*: cut/.*: not a commtrace segment" err)" = 1 ] || fail "a damaged node: no warning: $(cat err)"
cmp got.json <(cd node0 && "$commtrace" report --json cut) || fail "a damaged node: other bytes"
# One file, beside others that are read: the warning comes once, also with --keep, and from where all see it.
mkdir -p node0/one node1/one
cp node0/run/* node0/one
cp node1/run/* node1/one
file=$(ls node1/one | tail -n 1)
head -c 3000 /dev/zero >"node1/one/$file"
for options in "" --keep=30; do
	mpi_start 60 2 ./on_node "$program" $options report --json one >got.json 2>err || fail "a damaged file $options: exit $?: $(cat err)"
	[ "$(grep -c "warning: on .*: one/$file: offset 0: not a commtrace segment" err)" = 1 ] || fail "a damaged file $options: $(cat err)"
	(cd node1 && mpi_start 60 2 "$program" $options report --json one >got.json 2>err) || fail "a damaged file, seen twice: exit $?"
	[ "$(grep -c "$file: offset 0: not a commtrace segment" node1/err)" = 1 ] || fail "a damaged file, seen twice $options: $(cat node1/err)"
done
# Open MPI takes seconds to end a job that fails.
if [ "$flavour" = mpich ]; then
	prefix=(./on_node)
	refused "a file of another kind on a node" 1 "cannot read the run on .*: bad: not a recording" report bad
	refused "a path that cannot be followed on a node" 1 "cannot read the run on .*: loop/loop: .*symbolic links" report run loop/loop
	prefix=()
	refused "another command" 2 "no command that analyzes one run: record" record run
	refused "no command" 2 "a command is missing"
	refused "no RUN" 2 "'hang' needs a RUN" hang
	refused "keep" 2 "--keep is a number of seconds, 30 or more, not: 5" --keep=5 report run
fi

mpi_start 60 2 "$program" --help >out 2>err || fail "--help: exit $?: $(cat err)"
[ "$(grep -c '^Usage: mpirun -n N commtrace-mpi' out)" = 1 ] || fail "--help: $(cat out)"
! awk 'length > 90' out | grep . || fail "--help: wide lines"
echo "what is wrong with a line, once"
