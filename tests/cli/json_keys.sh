#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every key of the JSON outputs stands in docs/INTERFACES.md, and the other way round: for the whole, and for each part
# that has content.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null
docs=$data/../../../docs/INTERFACES.md

# documented NAME: lines "part key" of the rows that belong to an output; what is in brackets belongs to the key before it.
documented() {
	awk -v name="$1" '
		function put(n, word, i) {
			while (gsub(/\([^()]*\)|\{[^{}]*\}|\[[^][]*\]/, "", text)) { }
			n = split(text, word, " ")
			for (i = 1; i <= n; i++) print part, word[i]
			text = ""
		}
		/^## / || /^```/ || /^$/ { put(); mine = 0; on = /^## /? $0 == "## JSON" : on; next }
		!on { next }
		/^[a-z]/ { put(); mine = ($1 == name); part = "-" }
		!mine { next }
		/^ [a-z]/ { put(); part = $1; sub(/\[\]$/, "", part) }
		/^ ?[a-z]/ { sub(/^ ?[a-z]+(\[\])? +/, ""); text = $0; next }
		/^ +[A-Za-z_]+:/ { put(); part = "remarks"; next }
		{ text = text " " $0 }
	' "$docs"
}

# written FILE: the same lines from the JSON, whose indentation tells how deep a key lies.
written() {
	awk -F'"' '
		!/^ +"[^"]*":/ { next }
		/^ "/ { part = $2; key = /\{$/ ? "  \"" : "   \""; print "-", $2 } # of an object, or of the objects of a list
		index($0, key) == 1 { if (!((part, $2) in seen)) print part, $2; seen[part, $2] = 1 }
	' "$1"
}

for name in report info; do
	commtrace $name run1 -o $name.json
	commtrace $name run1 --format=json | cmp - $name.json
	grep -qF "\"schema\": \"commtrace.$name/1\"" $name.json || echo "$name: no schema"
	[ $name = report ] || sed -i '/^  /d' $name.json # the parts of info are those of report, but for processes
	written $name.json | sort -s -k 1,1 >keys
	# Parts without content have no keys to compare.
	documented $name | awk 'NR == FNR { part[$1] = 1; next } $1 in part' keys - | sort -s -k 1,1 | diff - keys &&
		echo "$name: as documented"
done
