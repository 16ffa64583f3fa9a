#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kill truth of jobs on GPUs: every rank of a simulated job is killed at a moment of its own. What its journal has as
# returned is in the trace; a launch of a call that returned is over or open; one whose group had not ended is neither. In
# every second round the machine of one rank misbehaves meanwhile.
. "$(dirname "$0")/e2e.sh"
simjob=$build/bin/commtrace-simjob
ranks=8
rounds=20
[ "$long" = 0 ] || rounds=200
workloads=(ddp megatron fsdp moe decode)
hostile=(driver-lock:rank=3,s=9,from=20 slow-write:rank=5,s=9,from=5 starve-sm:rank=2,ms=8 gpu-pause:rank=1,ms=60,every=4
	"driver-lock:rank=6,s=9,from=30 --fault slow-write:rank=6,s=9,from=10" "slow-write:rank=0,s=9,from=2 --end-skew-us 200")

killed=0 calls=0 open=0
echo "seed $seed"
for ((n = 0; n < rounds; n++)); do
	d=$work/round-$n
	workload=${workloads[n % ${#workloads[@]}]}
	mkdir "$d"
	faults=()
	between base 400 1100
	for ((rank = 0; rank < ranks; rank++)); do
		between ms "$base" $((base + 150))
		faults+=(--fault "kill:rank=$rank,ms=$ms")
	done
	between run_ahead 0 2
	misbehaves=
	[ $((n % 2)) = 0 ] || misbehaves=${hostile[n / 2 % ${#hostile[@]}]}
	status=0
	# shellcheck disable=SC2086
	traced 60 "$d/run" env COMMTRACE_QUIET=1 COMMTRACE_FLUSH=$((100 * (n % 4 + 1)))ms "$simjob" --ranks $ranks --nodes 2 \
		--workload "$workload" --steps 1000000 --step-ms 10 --seed $((n + 1)) --journal "$d/journal" --on-death wait \
		--fault run-ahead:ms=$((run_ahead * 10 + 1)) ${misbehaves:+--fault $misbehaves} \
		"${faults[@]}" >"$d/out" 2>"$d/err" || status=$?
	[ $status = 1 ] || fail "round $n: $workload: exit $status: $(tail -n 3 "$d/err")"
	said=$(timeout -k 5 240 "$e2e/check_journal" --nccl -r "$d/run" "$d/journal" 2>&1) || fail "round $n, $workload: $said"
	killed=$((killed + $(word "$said" ' processes')))
	calls=$((calls + $(word "$said" ' calls')))
	open=$((open + $(word "$said" ' launches open')))
	printf '%-9s %s%s\n' "$workload" "${said#check_journal: }" "${misbehaves:+; $misbehaves}"
	rm -rf "$d"
	rm -f "$rings"/*
done
echo "$killed processes killed, $calls calls returned, $open launches open"
[ $killed -ge $((rounds * ranks * 9 / 10)) ] || fail "only $killed killed processes had recorded something"
[ $open -gt 0 ] || fail "no launch was open: nothing was killed while its GPU worked"
