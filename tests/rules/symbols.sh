#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An archive defines each function once: of two with one name a linker takes either, without a word.
. "$(dirname "$0")/rule.sh"
archives=$(find "$build/lib" -name 'libct_*.a' 2>/dev/null | sort)
judged "archives" "$(wc -w <<<"$archives")"

for archive in $archives; do
	nm --extern-only --defined-only "$archive" | awk -v of="${archive##*/}" '$2 ~ /[TDBR]/ && seen[$3]++ == 1 { print of ": " $3 }'
done | verdict "defined twice"
