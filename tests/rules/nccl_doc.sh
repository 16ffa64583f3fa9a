#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/reference/NCCL.md shows every function that the table of NCCL's calls wraps, and no function that it does not have.
. "$(dirname "$0")/rule.sh"
doc=docs/reference/NCCL.md table=interpose/abi/nccl_calls.def
need $doc
need $table

# names KINDS: functions of rows of these kinds, each once.
names() {
	tr '\n' ' ' <$table | grep -oE "NCCL_($1)\([^)]*" | grep -oE '[ (]nccl[A-Z][A-Za-z0-9]*,' | tr -d ' (,' | sort -u
}
wrapped='CALL|CALL_HOST|CALL_HAND'
judged "functions of $table" "$(names "$wrapped" | wc -l)"
reported() { awk '/^## / { on = /Functions/ } on' $doc | grep -oE '`nccl[A-Z][A-Za-z0-9]*`' | tr -d '`' | sort -u; }

comm -23 <(names "$wrapped") <(reported) | verdict "functions that $table wraps and $doc does not mention"
comm -13 <(names "$wrapped|SKIP|SKIP_DEVICE") <(reported) | verdict "functions that $doc mentions and $table does not have"
