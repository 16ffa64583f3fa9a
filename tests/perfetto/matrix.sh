#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# matrix.sh: each fault that commtrace-synth plants, on one workload or another, in Perfetto's own engine: 8 ranks, those that do not end a
# job several at once; and 64 ranks of a workload.
# matrix.sh --whole [RANKS...]: at 8 and 64 ranks each fault on each workload; at 1024 and 4096 each workload, and each fault once.
# Prints METRIC lines for tests/gates.sh. RANKS chooses among the four.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${CT_BUILD:-$here/../../build}
commtrace=$build/bin/commtrace
export CT_BUILD=$build
engine=$("$here/fetch.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

workloads=(ddp megatron fsdp moe decode)
# As `commtrace-synth --help` lists them, but for skip-init, which leaves nothing that could be drawn. That none is missing is
# checked below.
faults=(none slow-rank:rank=1,pct=50 slow-host:host=0,ms=5 slow-link:src=0,dst=1,factor=0.1 late-host:rank=1,ms=5
	pause:rank=1,every=2,ms=20 rotating:every=1,ms=5 missing:rank=1,op=4 skip:rank=1,op=4 extra:rank=1,op=4
	mismatch:rank=1,op=4,field=count kill:rank=1,op=4 exit:rank=1,op=4 block-stream:rank=1,op=4 order-inversion:ranks=0+1
	async-error:rank=1,op=4 drop-trace:rank=1 truncate:rank=1,keep=0.5 starve-sm:rank=1,ms=5 run-ahead:ms=20
	gpu-pause:rank=1,ms=20 skip-send:rank=0,peer=1,op=0 host-inversion:ranks=0+1 host-stall:rank=1,call=groupend,op=4
	unbatched-p2p:ranks=0+1 never-ends:rank=1,op=4 stray-split:rank=1,op=4 transport-stall:rank=1,op=4)

every_fault_is_listed() {
	local known
	known=$("$build/bin/commtrace-synth" --help | sed -n 's/^  \([a-z0-9-]*\):[a-z]*=.*/\1/p' | grep -v '^skip-init$' | sort)
	[ -n "$known" ] && diff <(printf '%s\n' "${faults[@]%%:*}" | grep -v '^none$' | sort) <(echo "$known")
}

# draw RANKS WORKLOAD FAULT[/FAULT...]: plays it and merges it; prints the line for judge.mjs.
draw() {
	local ranks=$1 workload=$2 fault=$3 name=$1-$2-${3%%:*}
	local options=(--workload "$workload" --steps 3 --seed "$ranks")
	[ "$ranks" = 8 ] || options+=(--hosts $((ranks / 8)))
	[ "$ranks" -lt 1024 ] || options+=(--steps 2)
	# shellcheck disable=SC2206
	[ "$fault" = none ] || options+=(--fault ${fault//\// --fault })
	"$build/bin/commtrace-synth" "${options[@]}" -o "$name" 2>"$name.said" >&2 || { cat "$name.said" >&2; return 1; }
	"$commtrace" timeline "$name" -o "$name.pftrace" >"$name.said" 2>"$name.warned" || { cat "$name.warned" >&2; return 1; }
	"$commtrace" timeline "$name" -o "$name.tsv" >/dev/null 2>&1 || return 1
	rm -r "$name"
	printf '%s\t%s\t%s\t%s\n' "$name" "$name.pftrace" "$name.tsv" "$(sed -n 's/.* \([0-9]*\) arrows,.*/\1/p' "$name.said")"
}

# Only a message can be left out, which is what moe has between any two.
fits() { [ "${2%%:*}" != skip-send ] || [ "$1" = moe ]; }

# once RANKS: each fault on one workload, the workloads in turn.
once() {
	local i=0 fault workload
	for fault in "${faults[@]}"; do
		workload=${workloads[i++ % 5]}
		fits "$workload" "$fault" || workload=moe
		printf '%s %s %s\n' "$1" "$workload" "$fault"
	done
}

crossed() {
	local fault workload
	for workload in "${workloads[@]}"; do
		for fault in "${faults[@]}"; do
			! fits "$workload" "$fault" || printf '%s %s %s\n' "$1" "$workload" "$fault"
		done
	done
}

draw_all() {
	while read -r job; do
		# shellcheck disable=SC2086
		draw $job || return
	done
}

# Lines of jobs on stdin; prints what judge.mjs says of each. Small ones share an engine, large ones have one each and leave no files.
judged() {
	local job
	if [ "$1" = small ]; then
		draw_all | node --liftoff-only "$here/judge.mjs" "$engine"
		return
	fi
	while read -r job; do
		# shellcheck disable=SC2086
		draw $job >line || return
		node "$here/judge.mjs" "$engine" <line || return
		rm -f ./*.pftrace ./*.tsv
	done
}

# jobs RANKS: all of this size.
jobs() {
	local workload
	case $1 in
	8 | 64) crossed "$1" ;;
	*)
		once "$1"
		for workload in megatron fsdp moe decode; do echo "$1 $workload none"; done
		;;
	esac
}

# Whatever fails: the lines of what was judged, and then not ok.
whole() {
	local ranks size
	for ranks; do
		size=large
		[ "$ranks" -gt 64 ] || size=small
		jobs "$ranks" | judged $size || return
	done
}

# together: the same faults as once, in fewer runs; a run has one of those that end it.
together() {
	local lasting='^(slow-|late-|pause|rotating|drop-|truncate|starve-|run-|gpu-)'
	once "$1" | awk -v lasting="$lasting" '$3 == "none" { next }
		$3 ~ lasting { i = n++ % 4; all[i] = all[i] (all[i] ? "/" : "") $3; next }
		{ print }
		END { split("ddp megatron fsdp decode", workload, " "); for (i = 0; i < 4; i++) print $1, workload[i + 1], all[i] }'
}

every_fault_is_listed
if [ "${1:-}" != --whole ]; then
	{
		together 8
		echo 64 fsdp run-ahead:ms=20
	} | judged small >judged || { grep -v ': ok ' judged; exit 1; }
	exit 0
fi
shift
[ $# -gt 0 ] || set -- 8 64 1024 4096
status=0
whole "$@" >judged || status=1
grep -v ': ok ' judged || true
planned=$(for ranks; do jobs "$ranks"; done | wc -l)
awk -v status=$status -v planned="$planned" '/: ok / { files++; slices += $3 }
	!/: ok / { differences++ }
	END {
		printf "METRIC perfetto.matrix_files %d >=%d\n", files, planned
		printf "METRIC perfetto.matrix_slices %d >=1\n", slices
		printf "METRIC perfetto.matrix_differences %d 0\n", differences + (status && !differences)
	}' judged
