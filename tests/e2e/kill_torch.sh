#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same with a real job: torchrun, whose rank is killed at a random moment. Its journal has every call; torchrun knows
# nothing of the tracer, and yet the trace shows how each of its ranks ended.
. "$(dirname "$0")/e2e.sh"
ranks=3

# clock: CLOCK_MONOTONIC in nanoseconds.
clock() {
	"$python" -c 'import time; print(time.monotonic_ns())'
}

# field FILE OFFSET BYTES: a number out of a journal.
field() {
	od -An -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
	local limit=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $limit ] || return 1
		sleep 0.05
	done
}

# Every rank has begun to call.
under_way() {
	local rank
	for ((rank = 0; rank < ranks; rank++)); do
		[ -s "$d/rank-$rank.journal" ] && [ "$(field "$d/rank-$rank.journal" 64 8)" -gt 3 ] || return 1
	done
}

gone() {
	! kill -0 "$launcher" 2>/dev/null
}

# The rows of `commtrace info` for the ranks, as RANK PID END SIGNAL, and whatever else holds for all of them.
ends_of_ranks() {
	"$python" - "$d/info.json" <<-'EOF'
		import json, sys
		for process in json.load(open(sys.argv[1]))["processes"]:
		    print(*process["ranks"], process["pid"], process["end"], process["signal"])
	EOF
}

round() {
	local n=$1 port victim=0 pause=0 pid before after status=0
	d=$work/round-$n
	mkdir -p "$d/run"
	port=$("$python" "$root/tools/free_port.py")
	between victim 0 $((ranks - 1))
	between pause 0 1200
	# timeout would be the parent of torchrun; the watch over the time is below.
	env COMMTRACE_DIR="$d/run" LD_PRELOAD="$library" OMP_NUM_THREADS=1 "$python" -m torch.distributed.run -r 1 -t 1 \
		--log_dir "$d/log" --nproc_per_node=$ranks --master_addr 127.0.0.1 --master_port "$port" \
		--monitor_interval 0.5 "$root/examples/torch_ddp/train.py" --steps 100000 --hidden 64 --groups \
		--journal "$d" --timeout-s 20 >"$d/out" 2>"$d/err" &
	launcher=$!
	wait_for 240 under_way || fail "round $n: the job does not get going: $(tail -n 5 "$d/err")"
	sleep "$(printf '%d.%03d' $((pause / 1000)) $((pause % 1000)))"
	pid=$(field "$d/rank-$victim.journal" 24 4)
	before=$(clock)
	# shellcheck disable=SC2016
	env LD_PRELOAD="$library" bash -c 'echo $$; kill -KILL "$0"' "$pid" >"$d/killer"
	after=$(clock)
	wait_for 240 gone || fail "round $n: torchrun does not end"
	wait "$launcher" || status=$?
	[ $status = 1 ] || fail "round $n: torchrun's exit code is $status: $(tail -n 5 "$d/err")"
	grep -q "pid: $pid).*exitcode *: -9\|exitcode: -9.*pid: $pid" "$d/err" || grep -q -- "-9" "$d/err" ||
		fail "round $n: torchrun does not say that a rank was killed: $(tail -n 5 "$d/err")"

	said=$("$e2e/check_journal" --torch -r "$d/run" "$d"/*.journal 2>&1) || fail "round $n: $said"
	[ "$(word "$said" ' processes')" = $ranks ] || fail "round $n: not all ranks recorded: $said"
	info_json "$d/run" >"$d/info.json" || fail "round $n: commtrace info: exit $?"
	# torchrun waited, bash killed; the trace knows both.
	echo "$pid 9 $before $(clock) 9 $before $after $(cat "$d/killer") $launcher 0" >"$d/truth"
	"$e2e/check_ends" "$d/truth" "$d/run" "$d/info.json" >"$d/ends" 2>&1 ||
		fail "round $n: $(cat "$d/ends")"
	ends_of_ranks >"$d/rows"
	grep -q "^$victim $pid signal 9\$" "$d/rows" || fail "round $n: rank $victim was killed:"$'\n'"$(cat "$d/rows")"
	[ "$(wc -l <"$d/rows")" = $ranks ] || fail "round $n: not $ranks processes:"$'\n'"$(cat "$d/rows")"
	! grep -Ev "^[0-9]+ [0-9]+ (clean None|signal (9|15))\$" "$d/rows" >"$d/odd" ||
		fail "round $n: nobody knows how they ended:"$'\n'"$(cat "$d/odd")"
	printf 'round %s: rank %s killed after %s ms; %s; %s\n' "$n" "$victim" "$pause" "${said#check_journal: }" \
		"$(cut -d' ' -f1,3- "$d/rows" | sort | tr '\n' ';')"
	rm -rf "$d"
}

echo "seed $seed"
rounds=3
[ "$long" = 0 ] || rounds=30
for ((n = 0; n < rounds; n++)); do
	round $n
done
