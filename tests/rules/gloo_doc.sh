#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/reference/GLOO.md shows every collective in the table of Gloo's calls, and no other.
. "$(dirname "$0")/rule.sh"
doc=docs/reference/GLOO.md table=interpose/gloo/gloo_calls.def
need $doc
need $table

names() { sed -nE 's/^GLOO_CALL\("[^"]*", *([a-z]+),.*/\1/p' $table | sort -u; }
judged "collectives of $table" "$(names | wc -l)"
reported() { # the list of collectives, and no more
	sed -n '/^Collectives; /,/[.] Their/p' $doc | sed 's/[.] Their.*//' | grep -oE '`[a-z]+`' | tr -d '`' | sort -u
}
comm -23 <(names) <(reported) | verdict "collectives of $table that $doc does not mention"
comm -13 <(names) <(reported) | verdict "collectives that $doc mentions and $table does not have"
