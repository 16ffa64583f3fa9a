#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Parts of a run that are missing, cut off, there twice, of another job, or no part at all: the rest is analyzed, what is
# missing is said, and what is asserted is asserted with less confidence.
say() {
	echo "== $1"
	shift
	{
		commtrace report "$@" --verbose 2>/dev/null | grep -E '^([A-Z][a-z ]+:|missing|dropped)'
		commtrace report "$@" --json 2>/dev/null | jq -r '.not_traced[0] // empty | "warning   \(.what): \(.why)"'
	} | sed -E 's/\.[0-9a-f]+\.0\.seg/.SEG/g; s/offset [0-9]+/offset N/'
	commtrace report --format=json "$@" 2>/dev/null |
		python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["run"]["complete"], r["verdict"]["confidence"], r["run"]["ranks_missing"])'
}
commtrace import jsonl "$data/four_ranks.jsonl" -o whole >/dev/null
sed 's/"MASTER"/"OTHER"/' "$data/four_ranks.jsonl" >other.jsonl
say whole whole
for what in missing truncated double foreign; do
	cp -r whole $what
done
part=$(cd whole && printf '%s\n' *.seg | tail -n 1)
rm "missing/$part"
truncate -s -40 "truncated/$part"
cp "double/$part" double/copy.seg
head -c 3000 /dev/zero >foreign/zeros.seg
echo hello >foreign/readme.txt
say missing missing
say truncated truncated
say double double
say foreign foreign
say 'one path twice' whole whole
