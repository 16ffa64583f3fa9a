#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch.sh: prints the folder that holds the libraries which aarch64 programs of this project are built with, after fetching
# Debian's packages of them into the build tree if they are not there yet. apt does that with a state of its own: nothing is
# installed, and the machine's architectures stay as they are. Tests only.
# CT_CROSS_ROOT names a folder that has the unpacked packages already, for machines that reach no mirror.
set -euo pipefail
packages="libzstd-dev libjansson-dev zlib1g-dev libdeflate-dev libelf-dev libprotobuf-c-dev libncurses-dev libcmocka-dev libcmocka0"
build=${CT_BUILD:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build}
root=${CT_CROSS_ROOT:-$build/cross-root}

die() {
	printf 'fetch.sh: %s\n' "$*" >&2
	exit 1
}

is_there() {
	[ -e "$1/usr/lib/aarch64-linux-gnu/libzstd.a" ] &&
		[ -e "$1/usr/lib/aarch64-linux-gnu/libdeflate.a" ] &&
		[ -e "$1/usr/lib/aarch64-linux-gnu/libtinfo.a" ] &&
		[ -e "$1/usr/lib/aarch64-linux-gnu/libcmocka.so.0" ]
}

if is_there "$root"; then
	echo "$root"
	exit 0
fi
[ -z "${CT_CROSS_ROOT:-}" ] || die "CT_CROSS_ROOT=$root lacks the libraries"

# Two tests may come here at once; the folder appears whole.
mkdir -p "$build"
exec 9>"$build/cross-root.lock"
flock 9
if ! is_there "$root"; then
	work=$(mktemp -d "$build/cross-fetch.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/root"
	private=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Acquire::Languages=none -o APT::Sandbox::User=
		-o Dir::State="$work/state" -o Dir::State::status=/dev/null -o Dir::Cache="$work/cache")
	# The list is one of words.
	# shellcheck disable=SC2086
	(cd "$work" && apt-get "${private[@]}" update && apt-get "${private[@]}" download $packages) >"$work/log" 2>&1 ||
		die "cannot fetch $packages for arm64: $(tail -n 3 "$work/log" | tr '\n' ' ')"
	for package in "$work"/*.deb; do
		dpkg-deb -x "$package" "$work/root"
	done
	is_there "$work/root" || die "the packages have other files than they had"
	rm -rf "$root"
	mv "$work/root" "$root"
fi
echo "$root"
