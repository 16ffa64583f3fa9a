#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every key of a dumped line stands in docs/reference/INTERFACES.md, in the same order.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null
commtrace dump run1 --format=jsonl --limit 1 | grep -o '"[a-z_]*":' | tr -d '":' >keys
awk '/^## dump and import/ { on = 1 } on && /^```/ { if (++fence == 2) exit; next } on && fence { print }' \
	"$data/../../../docs/reference/INTERFACES.md" | sed 's/([^)]*)//g' | tr -s ' ' '\n' | grep . >documented
diff documented keys
