# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# simjob.sh — sourced by the tests of commtrace-simjob.
set -euo pipefail
export LC_ALL=C
simjob=$CT_BUILD/bin/commtrace-simjob
dir=$(mktemp -d "${TMPDIR:-/tmp}/commtrace-simjob.XXXXXX")
trap 'rm -rf "$dir"' EXIT

fail() {
	printf '%s\n' "$*" >&2
	exit 1
}

# run NAME ARGUMENTS...: the job's output, errors, result and exit status are in $dir/NAME.{out,err,json,rc}.
run() {
	local name=$1 rc=0
	shift
	"$simjob" --result "$dir/$name.json" "$@" >"$dir/$name.out" 2>"$dir/$name.err" || rc=$?
	echo $rc >"$dir/$name.rc"
}

# ends NAME: how the processes of the job ended, like "1 signal 9, 7 stopped 15".
ends() {
	sed -n 's/.*"ended": "\([a-z]*\)", "code": \([0-9]*\).*/\1 \2/p' "$dir/$1.json" | sort | uniq -c |
		awk '{ printf "%s%d %s %d", (NR > 1 ? ", " : ""), $1, $2, $3 }'
}

# sum NAME KEY: over all ranks.
sum() {
	awk -v key="\"$2\": " '{ at = index($0, key) } at { n += substr($0, at + length(key)) + 0 } END { print n + 0 }' "$dir/$1.json"
}
