#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# dist.sh BUILD NAME — makes BUILD/NAME.tar.gz, which unpacks into NAME/. Run by the target `dist`.
set -eu
cd "$(dirname "$0")/.."
. tools/steps.sh

build=$1
name=$2
stage=$build/dist/$name
sample=$stage/samples/ddp-4ranks

rm -rf "$build/dist"
mkdir -p "$stage/samples"
cmake --install "$build" --prefix "$stage" >/dev/null
strip --strip-debug "$stage/bin/commtrace" "$stage/lib/libcommtrace.so"
cp README.md LICENSE CHANGELOG.md "$stage/"

# The sample is the demo's job, made with the files that are shipped. Without torch it is the same shape, written by
# hand and imported.
if torch_python >/dev/null; then
	record_ddp "$stage/bin/commtrace" "$build/dist/job" --steps 10 --slow-rank 2 --slow-ms 60 >"$build/dist/job.log" 2>&1 || {
		cat "$build/dist/job.log" >&2
		die "the sample job failed"
	}
	mv "$build/dist/job/run" "$sample"
else
	awk -f .ci/sample.awk >"$build/dist/sample.jsonl"
	"$stage/bin/commtrace" import jsonl "$build/dist/sample.jsonl" -o "$sample"
fi

# People unpack this as anybody: modes come from here, owners from nowhere.
chmod -R u=rwX,go=rX "$stage"
tar --owner=root:0 --group=root:0 --numeric-owner --sort=name -C "$build/dist" -czf "$build/$name.tar.gz" "$name"
