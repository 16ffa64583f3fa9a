#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is not a run is said in one line each, exit 1; what can be read beside it is still reported.
try() {
	printf '$ %s\n' "$*" >&2
	commtrace "$@"
	local got=$?
	[ $got = 1 ] || echo "exit $got" >&2
}
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null
mkdir empty garbage torn newer short dir.seg
touch file garbage/notes.txt
head -c 4000 /dev/urandom | tr -d '\000' >garbage/x.1.2.3.0.seg
first=$(printf '%s\n' run1/*.seg | head -n 1)
head -c 100 "$first" >short/a.0.seg
cp run1/*.seg torn
truncate -s -20 torn/"${first#run1/}"
cp run1/*.seg newer
printf '\377' | dd of=newer/"${first#run1/}" bs=1 seek=8 conv=notrunc status=none

for command in report info dump; do
	try $command missing
	try $command empty
	try $command file
	try $command dir.seg
	try $command garbage
	try $command short
done
cp -r newer new
rm new/node1.*.101.* new/node2.*
try report new
# Damaged parts beside good ones: a warning each, the rest is there, exit 0.
for run in torn newer; do
	echo "\$ dump $run" >&2
	commtrace dump "$run" | awk '!/^#/ { n[$1]++ } END { for (rank in n) print rank, n[rank] }' | sort
	commtrace report "$run" >/dev/null 2>&1 || echo "report $run: exit $?"
	commtrace info "$run" >/dev/null 2>&1 || echo "info $run: exit $?"
done
cp garbage/x.1.2.3.0.seg run1
echo '$ dump run1' >&2
commtrace dump run1 | wc -l
