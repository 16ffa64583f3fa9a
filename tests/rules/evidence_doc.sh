#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The names of evidence that the analyzer gives findings are those of the table in docs/dev/algorithms/evidence.md, section Evidence.
. "$(dirname "$0")/rule.sh"
doc=docs/dev/algorithms/evidence.md

# What stands in quotes in the argument that is the name: one, or two to choose from.
given() {
	sources '^analyzer/.*[.]c$' | xargs -r -d '\n' cat | tr '\n\t' '  ' |
		grep -oE 'ct_(finding_evidence\([^,]*,|order_evidence\()[^,]*,[^,;]*,' | grep -oE '"[a-z_0-9]+"' | tr -d '"' | sort -u
}

documented() {
	awk '/^## / { on = $0 == "## Evidence" } on' $doc | sed -nE 's/^\| (`[a-z_0-9`, ]+`) \|.*/\1/p' | grep -oE '[a-z_0-9]+' | sort -u
}

need $doc
judged "names of evidence in analyzer/" "$( (given || true) | wc -l)"
differ <(given) <(documented) | verdict "evidence in analyzer/ (<) and $doc (>) differ"
