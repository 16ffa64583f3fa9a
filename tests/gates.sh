#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gates.sh [AREA] [--json] — measures every promised figure and holds it against its limit. One line a figure:
#   GATE area.name value limit pass|FAIL
# Exit 1 if a figure is beyond its limit or a program of the table below printed none. A limit is an upper one, or a
# lower one where it is written >=x. Programs print METRIC area.name value limit; what else they print is shown as it
# comes on stderr. A ratio needs a quiet machine: gates are run by hand and before a release, not as tests.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh

# area, program in build/tests/bench, or script in tests/AREA (its arguments after it)
benches() {
	cat <<-'EOF'
	overhead bench_wrapper
	overhead bench_tail
	overhead bench_nccl
	overhead bench_waits
	overhead ../bench/instructions.py
	overhead ../bench/crowded.sh
	overhead ../python/site_cost.py
	overhead bench_mpi.openmpi
	overhead bench_mpi.mpich
	overhead ../bench/paired.py
	overhead ../bench/footprint.py
	size     bench_codec
	size     ../bench/size.py
	speed    ../bench/speed.py
	speed    ../bench/speed_long.py
	speed    ../bench/memory.py
	speed    ../bench/parts.py
	perfetto bench_perfetto
	perfetto matrix.sh --whole
	browser  load.py
	accuracy bench_gputime
	accuracy accuracy.py --seeds 25
	accuracy accuracy.py --seeds 75 --rows ^stragglers.null$
	accuracy accuracy.py --seeds 100 --rows ^healthy
	accuracy accuracy.py --seeds 25 --rows ^stragglers.one_rank --imported
	accuracy lateness.py --seeds 25
	accuracy thinned.py --runs 60
	accuracy diff.py
	accuracy diagnose.py
	accuracy bench_peers.py
	accuracy bench_peers.py --flavour mpich
	accuracy real/jobs.py --tries 3
	accuracy real/jobs.py --balanced 43
	stacks   unharmed.py --gate
	live     cost.py
	live     scrapes.py
	hang     ../hang_real/gloo.py
	hang     ../hang_real/mpi_hang.py --flavour openmpi
	hang     ../hang_real/mpi_hang.py --flavour mpich
	hang     ../hang_real/torchrun_crash.py --rounds 100
	hang     ../hang_real/lost.py
	hang     ../hang_real/ddp_asleep.py
	hang     ../hang_real/watched.py --faults 30 --healthy 50
	hang     ../hang_real/watch_cost.py
	hang     ../launchers/kubernetes.sh
	hang     live.py --all --kill all,launcher,staggered,kills --gate
	hang     live.py --all --kill all --timing events --drop-each --gate
	hang     random_faults.py
	hang     healthy.py
	hang     busy_host.py
	hang     looked.py
	hang     stopped.py
	hang     synthetic.py --all
	hang     synthetic.py --all --damaged
	hang     cut.py --all
	hang     tails.py --all
	hang     synthetic.py --big
	EOF
}

usage() {
	echo "usage: tests/gates.sh [AREA] [--json]    areas: $(benches | awk '{ print $1 }' | sort -u | tr '\n' ' ')" >&2
	exit 2
}

area=""
json=0
for arg in "$@"; do
	case $arg in
	--json) json=1 ;;
	-*) usage ;;
	*)
		[ -z "$area" ] || usage
		area=$arg
		;;
	esac
done
table=$(benches | awk -v area="$area" 'area == "" || $1 == area')
[ -n "$table" ] || usage

# shellcheck disable=SC2086
packages $GATE_PACKAGES
quietly gates-configure cmake --preset release -DCT_TESTS=ON
# shellcheck disable=SC2046
quietly gates-build cmake --build --preset release --target $(awk '{ print $2 ~ /[.](py|sh)$/ ? ($1 == "hang" ? "hang_real_jobs commtrace-simjob commtrace_preload decode_run tails_run " : $1 == "live" ? "commtrace-metrics commtrace-simjob commtrace_preload " : $1 == "speed" ? "decode_run " : $1 == "size" ? "bench_size bench_writer commtrace-simjob commtrace_preload mpi_stencil_openmpi " : $2 ~ /crowded/ ? "interpose_crowded commtrace_preload " : $2 ~ /paired|footprint/ ? "commtrace_preload commtrace-simjob mpi_stencil_openmpi " : $2 ~ /python/ ? "python_walker commtrace_preload " : $2 ~ /^real/ ? "accuracy_real_jobs " : "") "commtrace commtrace-synth" : $2 }' <<<"$table" | sort -u)

# measure AREA PROGRAM ARGS...: its METRIC lines; FAILED where it failed or has none.
measure() {
	local area=$1 program=$2 path=build/tests/bench out status=0
	shift 2
	[[ $program != *.py && $program != *.sh ]] || path=tests/$area
	[[ $program != ../* ]] || path=tests/bench # not every area has a folder
	out=$("$path/$program" "$@" </dev/null) || status=$?
	awk 'NF && !/^METRIC /' <<<"$out" >&2
	awk '/^METRIC /' <<<"$out"
	if [ "$status" != 0 ]; then
		echo "FAILED $area.$program exit-$status"
	elif ! [[ $out =~ (^|$'\n')METRIC\  ]]; then
		echo "FAILED $area.$program no-figure"
	fi
}

while read -r -a bench; do
	measure "${bench[@]}"
done <<<"$table" | awk -v json="$json" '
	function number(s) { return s ~ /^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$/ }
	# A value that is not a number passes nothing.
	function passes(value, limit,  low) {
		low = sub(/^>=/, "", limit)
		if (!number(value) || !number(limit)) return 0
		return low ? value + 0 >= limit + 0 : value + 0 <= limit + 0
	}
	function show(name, value, limit, ok) {
		if (!ok) bad = 1
		if (json)
			row[n++] = sprintf("{\"name\":\"%s\",\"value\":%s,\"limit\":\"%s\",\"pass\":%s}", name,
				number(value) ? sprintf("%.10g", value) : "null", limit, ok ? "true" : "false")
		else
			print "GATE", name, value, limit, ok ? "pass" : "FAIL"
	}
	$1 == "METRIC" { show($2, $3, $4, passes($3, $4)) }
	$1 == "FAILED" { show($2, $3, "-", 0) }
	END {
		if (json) {
			printf "{\"schema\":\"commtrace.gates/1\",\"gates\":["
			for (i = 0; i < n; i++) printf "%s%s", i ? "," : "", row[i]
			print "]}"
		}
		exit bad
	}'
