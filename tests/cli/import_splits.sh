#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How an all-to-all splits what it sends is known of a library's own function, and not of what may be given splits.
for call in "" all_to_all_single c10d::alltoall_base_ MPI_Alltoall ncclAlltoAll gloo::alltoallv; do
	# shellcheck disable=SC2086
	python3 "$data/lines.py" splits $call | commtrace import jsonl - -o run --force >/dev/null
	echo "${call:-null} $(commtrace report run --format=json | jq -c '.traffic | [.model, .exact_bytes > 0, .modeled_bytes > 0]')"
done
