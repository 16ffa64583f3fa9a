#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016,SC2030,SC2031
# With and without the preload: the same standard output, the same exit code, the same words on stderr but for the one
# line. Jobs over libgloo in all modes and endings, and programs that do not communicate, in which nothing may happen.
. "$(dirname "$0")/e2e.sh"
compared=0

# ends_of COMMAND...: runs it in the empty folder ./here; its output goes to out, its stderr to err, its exit code to code.
ends_of() {
	local code=0
	timeout -k 5 240 "$@" >out 2>err </dev/null || code=$?
	echo "exit code $code" >code
}

# both NAME COMMAND...: compare a program that does not communicate.
both() {
	local name=$1 way
	shift
	for way in plain traced; do
		rm -rf "$work/at" && mkdir -p "$work/at/here"
		(
			cd "$work/at/here"
			exec >/dev/null 2>&1
			[ $way = plain ] || export LD_PRELOAD=$library COMMTRACE_FLUSH=1s
			cd ..
			ends_of "$@"
		)
		mv "$work/at" "$work/$way"
	done
	same "$name: stdout" plain/out traced/out
	same "$name: stderr" plain/err traced/err
	same "$name: exit code" plain/code traced/code
	[ -z "$(find "$rings" traced/here -mindepth 1)" ] || fail "$name: left behind: $(find "$rings" traced/here -mindepth 1)"
	rm -rf plain traced
	compared=$((compared + 1))
}

# job WAY SIZE ARGUMENTS...: the ranks of one job in the folder ./WAY, each with out, err and code.
job() {
	local way=$1 size=$2 rank pids=()
	shift 2
	mkdir -p "$way/store"
	for ((rank = 0; rank < size; rank++)); do
		(
			mkdir "$way/$rank"
			cd "$way/$rank"
			exec 2>/dev/null
			export RANK=$rank WORLD_SIZE=$size COMMTRACE_DIR=$work/$way/run
			ulimit -c 0
			[ "$way" = plain ] || export LD_PRELOAD=$library
			ends_of "$gloo_job" --rank "$rank" --size "$size" --store ../store "$@"
		) &
		pids+=($!)
	done
	wait "${pids[@]}"
	# The tracer's line, once. Numbers of sockets no one chooses, and whether a peer is gone is noticed by a read or a
	# write is chance.
	if [ "$way" = traced ]; then
		[ "$(grep -c '^commtrace: recording to ' traced/0/err)" = 1 ] || fail "$*: no start line: $(cat traced/0/err)"
		sed -i '/^commtrace: recording to /d' traced/0/err
	fi
	for ((rank = 0; rank < size; rank++)); do
		sed -i -E -e 's/[0-9]+/N/g' -e 's/(: gloo: ).*/\1.../' "$way/$rank/err"
		cat "$way/$rank"/{out,code,err} >"$way/said.$rank"
	done
}

# jobs NAME SIZE ARGUMENTS...: compare the ranks of a job.
jobs() {
	local name=$1 size=$2 rank way
	shift 2
	for way in plain traced; do
		job $way "$size" "$@"
	done
	for ((rank = 0; rank < size; rank++)); do
		same "$name, rank $rank" plain/said.$rank traced/said.$rank
	done
	grep -qh 'exit code' traced/said.0 || fail "$name: said nothing"
	rm -rf plain traced
	rm -f "$rings"/*
	compared=$((compared + 1))
}

for mode in collectives p2p mixed; do
	jobs "$mode" 3 --mode $mode --threads 2 --ops 100
	jobs "$mode, fresh threads" 2 --mode $mode --fresh-threads --ops 50
done
jobs "one rank" 1 --threads 8 --ops 100
for end in return exit:5 _exit:6 abort segfault throw; do
	jobs "end $end" 2 --threads 2 --ops 50 --end $end
	jobs "end $end in the middle" 1 --threads 2 --ops 200 --pace-us 100 --end $end --end-at 100
	jobs "end $end while the other rank waits" 2 --ops 100 --end $end --end-at 50
done
jobs "a call that never returns" 2 --threads 2 --ops 50 --never-returns
both "a job that does not begin" "$gloo_job" --rank 0 --size 1 --store . --mode nonsense
both "a job without a store" "$gloo_job" --rank 0 --size 1 --store /nonexistent

for what in self forks spawn vfork closefrom handler errors threads exit _exit quick abort raise; do
	both "inert $what" "$e2e/inert" $what
done
both ls ls /
both environment sh -c 'env | grep -v -e ^LD_PRELOAD= -e ^COMMTRACE_ -e ^_= | sort'
both bash bash -c 'for i in 1 2 3; do (exit $i) & wait $!; echo $?; done; kill -TERM $$'
both "bash and a pipe" bash -c 'set -o pipefail; yes | head -n 3; echo $?'
both "exceptions" "$e2e/throwing"
both "an exception nobody catches" bash -c 'ulimit -c 0; "$0" uncaught' "$e2e/throwing"
if command -v python3 >/dev/null; then
	both python python3 -c 'import os, subprocess, sys, threading
print(subprocess.run(["sh", "-c", "exit 3"]).returncode, threading.active_count(), len(os.listdir("/proc/self/task")))
pid = os.fork()
if pid == 0: os._exit(9)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
sys.exit(4)'
	both "python, multiprocessing" python3 -c 'import multiprocessing as m
with m.Pool(2) as pool: print(pool.map(abs, range(-5, 5)))'
fi
said=$(LD_PRELOAD=$library COMMTRACE_FLUSH=7s bash -c 'sh -c "echo \$LD_PRELOAD \$COMMTRACE_FLUSH"')
[ "$said" = "$library 7s" ] || fail "a child's environment: $said"
both "a static program" "$commtrace" version
if [ "$(id -u)" = 0 ]; then
	# A program with more rights than its caller: the loader itself leaves the preload out.
	cp "$e2e/inert" "$work/secure" && chown 65534 "$work/secure" && chmod u+s "$work/secure"
	chmod 755 "$work"
	both "a set-uid program" "$work/secure" forks
fi

echo "$compared programs, the same with and without"
