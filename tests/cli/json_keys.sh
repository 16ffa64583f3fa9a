#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every key of the JSON outputs stands in docs/reference/JSON.md, and the other way round: for the whole, and for each part
# that has content.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null
docs=$data/../../../docs/reference/JSON.md

# documented NAME: lines "part key" of the section of an output, from its code blocks; what is in brackets belongs to the key before it.
documented() {
	awk -v name="$1" '
		function put(n, word, i) {
			while (gsub(/\([^()]*\)|\{[^{}]*\}|\[[^][]*\]/, "", text)) { }
			n = split(text, word, " ")
			for (i = 1; i <= n; i++) print part, word[i]
			text = ""
		}
		/^## / { mine = $2 == name; part = "-" }
		/^### / { part = $2; sub(/\[\]$/, "", part) }
		/^```/ { fence = !fence; if (mine && !fence) put(); next }
		mine && fence { text = text " " $0 }
	' "$docs"
}

# written FILE: the same lines from the JSON, whose indentation shows how deep a key lies.
written() {
	awk -F'"' '
		!/^ +"[^"]*":/ { next }
		/^ "/ { part = $2; key = /\{$/ ? "  \"" : "   \""; print "-", $2 } # of an object, or of the objects of a list
		index($0, key) == 1 { if (!((part, $2) in seen)) print part, $2; seen[part, $2] = 1 }
	' "$1"
}

commtrace-synth -o run2 --seed 1 --gpus-per-host 4 --steps 6 --fault missing:rank=1,op=20 >/dev/null
# as_documented NAME RUN
as_documented() {
	commtrace "$1" "$2" -o "$1.json"
	commtrace "$1" "$2" --format=json | cmp - "$1.json"
	grep -qF "\"schema\": \"commtrace.$1/1\"" "$1.json" || echo "$1: no schema"
	[ "$1" != info ] || sed -i '/^  /d' info.json # the parts of info are those of report, but for processes
	written "$1.json" | sort -s -k 1,1 >keys
	# Parts without content have no keys to compare.
	documented "$1" | awk 'NR == FNR { part[$1] = 1; next } $1 in part' keys - | sort -s -k 1,1 | diff - keys &&
		echo "$1: as documented"
}
as_documented report run1
# Those of parts without content, too; what hang holds is that of `hang`.
diff <(documented report | grep -v '^hang ' | sort -s -k 1,1) <("$build/tests/cli/column_keys" | sort -s -k 1,1) && echo "columns: as documented"
as_documented info run1
as_documented hang run2
# What report holds of it is the same, and nothing in a run that does not hang.
commtrace report run2 -o report2.json
python3 - report.json report2.json hang.json <<-EOF
	import json, sys
	well, hung, said = (json.load(open(name)) for name in sys.argv[1:])
	print("report: hang", well["hang"], hung["hang"] == {"state": said["state"], "verdicts": said["verdicts"]}, len(said["verdicts"]))
EOF
# Outputs whose parts lie within others: the keys as a set. Of a hang and of top only those that are there are looked up.
commtrace diff run1 run1 --json >diff.json
commtrace diagnose run1 --json >diagnose.json
commtrace doctor --json >doctor.json
commtrace top run1 --json >top.json
python3 "$data/bench.py" . && commtrace import jsonl gloo1.jsonl -o bench1 >/dev/null && commtrace import jsonl mpi1.jsonl -o bench2 >/dev/null
commtrace bench bench1 bench2 --json >bench.json
python3 - "$docs" diff diagnose doctor bench hang top <<-'EOF'
	import json, re, sys
	def keys(value):
	    if isinstance(value, dict):
	        return set(value).union(*map(keys, value.values()))
	    return set().union(*map(keys, value)) if isinstance(value, list) else set()
	page = open(sys.argv[1]).read()
	for name in sys.argv[2:]:
	    section = re.search(r"^## %s\n(.*?)(?=^## |\Z)" % name, page, re.M | re.S)[1]
	    blocks = " ".join(re.findall(r"^```\n(.*?)^```", section, re.M | re.S))
	    documented = set(re.findall(r"[A-Za-z_0-9]+", re.sub(r"\([^()]*\)", "", blocks)))
	    written = keys(json.load(open(name + ".json")))
	    differ = written - documented if name in ("hang", "top") else written ^ documented
	    print("%s: %s" % (name, sorted(differ) or "as documented"))
EOF
