# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# doctor.bash — sourced by the doctor's cases. Paths differ from machine to machine, so they become words.

# ask IDS [NAME=VALUE...] [ARGUMENT...]: what the doctor says of these checks (a pattern), and how it ended.
ask() {
	local ids=$1 settings=() code=0
	shift
	while [[ ${1:-} == [A-Z]*=* ]]; do
		settings+=("$1")
		shift
	done
	env "${settings[@]}" commtrace doctor "$@" >said 2>errors || code=$?
	awk -v ids="^($ids)\$" '
		NR == 1 { print; next }
		/^[A-Z]/ { on = $2 ~ ids }
		on { sub(/[ \t]+/, " "); gsub(/  +/, " "); print }
	' said | sed -e "s|$build|BUILD|g" -e "s|$PWD|HERE|g" -e "s|$COMMTRACE_RING_DIR|RINGS|g" -e "s|(0x[0-9a-f]*)||g"
	sed -e "s|$build|BUILD|g" -e "s|$PWD|HERE|g" errors
	echo "exit $code"
	echo
}

# compiled NAME FLAGS...: from standard input.
compiled() {
	local name=$1
	shift
	gcc -w -O1 -x c - -x none -o "$name" "$@"
}
