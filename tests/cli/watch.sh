#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Watching a run: a line for each event, which two looks must confirm; evidence and command once per verdict, also if several watch.
watched() {
	commtrace watch run --interval=1 "$@" | cut -d ' ' -f 2-
	echo "exit ${PIPESTATUS[0]}"
}
commtrace-synth -o run --seed 1 --gpus-per-host 4 --steps 6 --fault missing:rank=1,op=20 >/dev/null
watched
for _ in 1 2; do
	watched --first --termination-log=none --on-verdict 'echo "$COMMTRACE_EVENT $(jq -c "[.event, .hosts]")" >>events'
done
cat events
tar -tf run/verdict-*.tar | sed 's#run/.*[.]#run/FILE.#' | sort -u
rm -rf run run.truth.json
commtrace-synth -o run --seed 1 --gpus-per-host 4 --steps 6 >/dev/null
watched
watched --on-verdict 'echo never'
commtrace watch nowhere
echo "exit $?"
commtrace watch
echo "exit $?"
