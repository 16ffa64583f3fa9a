#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The slow rank of a stencil is named, and no one else, although its neighbours hand its lateness on in their messages;
# without a slow rank no rank is named. Who is slow, and how many steps there are, is known from what the job received.
. "$(dirname "$0")/mpi.sh"
suffix=
ranks=4
# Who waits in MPICH polls. With two ranks on two cores that works out; with more no one's times show anything.
[ "$flavour" = openmpi ] || suffix=.mpich ranks=2
program=$build/bin/mpi_stencil$suffix
yield=

# is WHAT PATTERN OPTION...: the verdict, and the ranks in findings about late ones. Where others work on this machine one job may
# not show who was slow: another one may, while no rank is named.
is() {
	local said dir try
	for try in 1 2 3 4; do
		played "$try, $1" "${@:3}"
		[[ ! "$said" =~ ^($2)$ ]] || break
		[[ "$said" = *' '* || $try = 4 ]] && fail "$1: $said instead of $2: $("$commtrace" report "$dir")"
	done
	printf '%-18s %s\n' "$1" "$said"
}

# played WHAT OPTION...: sets said and dir.
played() {
	local what=$1
	dir=$work/${1//[ ,]/_}
	shift
	mpi_traced 100 $ranks "$dir" "$program" "$@" >"$dir.out" 2>&1 || fail "$what: exit $?: $(cat "$dir.out")"
	grep -q '^result checksum=' "$dir.out" || fail "$what: no result: $(cat "$dir.out")"
	"$commtrace" report "$dir" --format=json >"$dir.json" || fail "$what: report: exit $?"
	said=$("$python" - "$dir.json" <<-'PYTHON'
		import json, sys
		report = json.load(open(sys.argv[1]))
		late = [f for f in report["findings"] if f["kind"].startswith("STRAGGLER") and f["confidence"] != "low"]
		print(report["verdict"]["code"], *[rank for f in late for rank in f["ranks"]])
	PYTHON
	)
}

is "the last is slow" "STRAGGLER $((ranks - 1))" --steps 30 --slow-rank $((ranks - 1)) --slow-ms 60
is "the first is slow" "STRAGGLER 0" --steps 30 --slow-rank 0 --slow-ms 60
is "with groups" "STRAGGLER 1" --steps 30 --slow-rank 1 --slow-ms 60 --groups
# A machine that gets busy while the job runs is a change, of which no rank is accused.
is "nobody is slow" "HEALTHY|NOT_ENOUGH_EVIDENCE|NOT_COMMUNICATION|CHANGE_POINT" --steps 60
