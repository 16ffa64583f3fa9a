#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The verdict that `run` says is that of the report, to its last word, however long it is.
mkdir store
for rank in 0 1; do
	echo "RANK=$rank WORLD_SIZE=2 \"\$CT_GLOO_JOB\" --rank $rank --size 2 --store store --ops 12 --end exit:3 &"
done >job
echo wait >>job
commtrace run -o run1 -- bash job 2>said >/dev/null
verdict=$(commtrace report run1 --json | jq -r '"Not enough evidence: \(.verdict.text)"')
[ ${#verdict} -gt 100 ] || echo "too short to be cut: $verdict"
grep -qxF "commtrace: $verdict" said || cat said
