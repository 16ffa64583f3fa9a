#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The verdict that `run` says is that of the report, to its last word, however long it is. Of a job that died, who failed and
# what `hang` says replaces a verdict that is not sure.
job() { # STATUS
	rm -rf store run1
	mkdir store
	for rank in 0 1; do
		echo "RANK=$rank WORLD_SIZE=2 \"\$CT_GLOO_JOB\" --rank $rank --size 2 --store store --ops 12 --end exit:$1 &"
	done >job
	echo wait >>job
	commtrace run -o run1 -- bash job 2>said >/dev/null
}
job 0
verdict=$(commtrace report run1 --json | jq -r '"Not enough evidence: \(.verdict.text)"')
[ ${#verdict} -gt 80 ] || echo "too short to be cut: $verdict"
grep -qxF "commtrace: $verdict" said || cat said

job 3
grep -qE '^commtrace: rank [01] .* ended with status 3; 1 more failed' said || cat said
! grep 'Not enough evidence' said
verdict=$(commtrace hang run1 | head -1)
grep -qF "commtrace: $verdict" said || cat said
