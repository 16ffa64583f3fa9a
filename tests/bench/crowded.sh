#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A rank of a job that is parallel in four ways, 12 streams on 8 connections: how long its step is on the simulated device, beside an
# untraced one in the same run, as auto times it, and as events would (tests/interpose/test_crowded.c). Computed, not measured: no
# machine is too busy for it.
set -euo pipefail
build=$(cd "$(dirname "$0")/../.." && pwd)/build
said=$(LD_PRELOAD=$build/lib/libcommtrace.so "$build/tests/interpose/interpose_crowded")
awk '/^step: / {
	sub(",", "", $5)
	printf "METRIC overhead.streams_auto %.4f 1.002\nMETRIC overhead.streams_events %.4f >=1.5\n", $7 / $2, $5 / $2
}' <<<"$said"
