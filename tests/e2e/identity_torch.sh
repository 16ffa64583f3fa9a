#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2030,SC2031
# The same for a training job: train.py with every option, with and without the preload: the same standard output, exit
# codes and `result checksum=`, and on stderr nothing but the one line more.
. "$(dirname "$0")/e2e.sh"
export OMP_NUM_THREADS=1
train=$root/examples/torch_ddp/train.py
compared=0

# job WAY RANKS ARGUMENTS...: the ranks of one job in the folder ./WAY, each with out, err and code. A rank that sleeps for
# an hour is ended when the others have ended.
job() {
	local way=$1 size=$2 rank port pids=() sleeper=-1
	shift 2
	[[ " $* " != *" --hang-rank "* ]] || sleeper=$((size - 1))
	rm -rf "$way"
	port=$("$python" "$root/tools/free_port.py")
	for ((rank = 0; rank < size; rank++)); do
		mkdir -p "$way/$rank"
		(
			cd "$way/$rank"
			export RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$size MASTER_ADDR=127.0.0.1 MASTER_PORT=$port
			export COMMTRACE_DIR=$work/$way/run
			[ "$way" = plain ] || export LD_PRELOAD=$library
			exec 2>/dev/null
			code=0
			timeout -k 5 400 "$python" "$train" "$@" >out 2>err </dev/null || code=$?
			echo "exit code $code" >code
		) &
		pids+=($!)
	done
	for ((rank = 0; rank < size; rank++)); do
		[ $rank = $sleeper ] || wait "${pids[rank]}"
	done
	if [ $sleeper -ge 0 ]; then
		# timeout(1) hands the signal on.
		# shellcheck disable=SC2046
		kill -TERM $(cat "/proc/${pids[sleeper]}/task/${pids[sleeper]}/children")
		wait "${pids[sleeper]}"
	fi
	for ((rank = 0; rank < size; rank++)); do
		sed -E 's/[0-9]+/N/g' "$way/$rank/err" >"$way/err.$rank"
		cat "$way/$rank/out" "$way/$rank/code" >"$way/out.$rank"
	done
}

# program_is_the_script RUN NAME RANKS: each rank's program is the script, and no argument of it is on record.
program_is_the_script() {
	local programs
	programs=$(info_json "$1" | "$python" -c '
import json, sys
run = json.load(sys.stdin)
print(*[p["program"] for p in run["processes"]], run["environment"]["same"].get("program"))')
	[ "$programs" = "$(yes train.py | head -n "$3" | tr '\n' ' ')$train" ] || fail "$2: the programs are $programs"
}

# jobs NAME RESULT RANKS ARGUMENTS...: compare. RESULT is `ends` (with a result, and equal stderr), or `fails`: then what
# each rank complains about depends on who notices first.
jobs() {
	local name=$1 result=$2 size=$3 rank
	shift 3
	job plain "$size" "$@"
	job traced "$size" "$@"
	[ "$(grep -c '^commtrace: recording to ' traced/0/err)" = 1 ] || fail "$name: no start line: $(cat traced/0/err)"
	sed -i '/^commtrace: recording to /d' traced/err.0
	for ((rank = 0; rank < size; rank++)); do
		same "$name, rank $rank: stdout and exit code" plain/out.$rank traced/out.$rank
		[ "$result" = fails ] || same "$name, rank $rank: stderr" plain/err.$rank traced/err.$rank
		! grep -v '^commtrace: recording to ' "traced/$rank/err" | grep -i commtrace || fail "$name, rank $rank: speaks"
	done
	if [ "$result" = ends ]; then
		grep -qx 'result checksum=[0-9a-f]*' plain/out.0 || fail "$name: no result: $(cat plain/0/*)"
	else
		! grep -q checksum= plain/out.0 || fail "$name: ends with a result"
		grep -Eqx 'exit code [1-9][0-9]*' plain/out.0 || fail "$name: ends well"
	fi
	said=$(info_json traced/run) || fail "$name: commtrace info: exit $?"
	grep -q '"pid"' <<<"$said" || fail "$name: nothing was recorded"
	program_is_the_script traced/run "$name" "$size"
	printf '%-28s %s\n' "$name" "$(tail -n 2 plain/out.0 | tr '\n' ' ')"
	compared=$((compared + 1))
}

# launched RESULT ARGUMENTS...: the same under torchrun, that is traced itself.
launched() {
	local result=$1 way
	shift
	for way in plain traced; do
		rm -rf $way && mkdir $way
		(
			export COMMTRACE_DIR=$work/$way/run
			[ $way = plain ] || export LD_PRELOAD=$library
			code=0
			timeout -k 5 400 "$python" -m torch.distributed.run -r 1 -t 1 --log_dir "$way/log" --nproc_per_node=2 \
				--master_addr 127.0.0.1 --master_port "$("$python" "$root/tools/free_port.py")" --monitor_interval 0.5 \
				"$train" "$@" >"$way/out" 2>"$way/err" || code=$?
			echo "exit code $code" >>"$way/out"
		)
		sed -i -e '/^commtrace: recording to /d' -e 's/[0-9][0-9]*/N/g' $way/err
	done
	same "torchrun $*: stdout and exit code" plain/out traced/out
	[ "$result" = fails ] || program_is_the_script traced/run "torchrun $*" 2
	[ "$result" = fails ] || same "torchrun $*: stderr" plain/err traced/err
	printf '%-28s %s\n' torchrun "$(tail -n 2 plain/out | tr '\n' ' ')"
	compared=$((compared + 1))
}

jobs "groups, collectives" ends 3 --steps 3 --groups --collectives --hidden 64
mkdir -p "$work/journals"
jobs "journal, groups, slow" ends 2 --steps 4 --groups --collectives --journal "$work/journals" --hidden 64 --slow-rank 0 \
	--slow-ms 10
jobs "mismatch: op" fails 2 --steps 4 --mismatch-rank 1 --mismatch-step 2 --timeout-s 5
jobs "hanging" fails 2 --steps 4 --hang-rank 1 --hang-step 2 --timeout-s 5
launched ends --steps 4
if [ "$long" != 0 ]; then
	jobs plain ends 2 --steps 6
	jobs "slow, seed" ends 2 --steps 6 --slow-rank 1 --slow-ms 30 --slow-from 2 --slow-to 4 --seed 7
	jobs "skipped" fails 2 --steps 4 --skip-rank 1 --timeout-s 5
	jobs "one rank" ends 1 --steps 3 --groups --collectives --hidden 64
	jobs "mismatch: count" fails 2 --steps 4 --mismatch-rank 1 --mismatch-step 2 --mismatch-kind count --timeout-s 5
	launched fails --steps 4 --skip-rank 1 --timeout-s 5
	for n in 2 3 4; do
		for more in "" --groups --collectives "--groups --collectives" "--slow-rank 1 --slow-ms 20"; do
			# shellcheck disable=SC2086
			jobs "$n ranks $more" ends $n --steps 10 --seed $n $more
		done
	done
fi
echo "$compared jobs, the same with and without"
