#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An input that is not there is exit 1 in every command, with its name; so is one that is not what it should be. Each command of `commtrace help`
# has a line here.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null
echo 'no log of NCCL' >junk

# fails FILE COMMAND...
fails() {
	local file=$1 code=0
	shift
	timeout -k 5 60 commtrace "$@" >out 2>err </dev/null || code=$?
	head -n 1 err | grep -q "^commtrace: .*: $file: ." || code="$code, and says $(head -n 1 err)"
	echo "$* : $code"
}

while read -r command rest; do
	case $command in
	diff) fails nothing diff run1 nothing ;;
	timeline | heatmap) fails nothing "$command" nothing -o "out.$rest" ;;
	partial) fails nothing "$command" nothing -o part ;;
	import) fails nothing import jsonl nothing -o imported ;;
	run | preload | doctor | version | help) ;; # take none
	*) fails nothing "$command" nothing ;;
	esac
done < <(commtrace help | awk '/^  [a-z]+  / { print $1, $1 == "timeline" ? "pftrace" : "svg" }' | sort)
for what in --expect --nccl-log --bench; do
	fails nothing diagnose run1 $what=nothing
done
fails nothing report run1 --expect=nothing
fails junk report run1 --expect=junk
fails junk bench junk
# a log in which nothing is of use is not a failure, but is said
commtrace diagnose run1 --nccl-log=junk >/dev/null
