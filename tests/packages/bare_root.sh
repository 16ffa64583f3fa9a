#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bare_root.sh: the tarball, the Debian package and the wheel do their work in a Debian that has nothing but them (and pip, for
# the wheel). CT_BARE_ROOT names a tarball of such a root that is there already.
set -euo pipefail
build=$CT_BUILD
data=$(cd "$(dirname "$0")/../cli/data" && pwd)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
mkdir "$root"

# The package mirror is the one that this machine uses.
sources() {
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 'Origin: Debian' "Architecture: $(dpkg --print-architecture)" | sort -u
}

cmake --build "$build" --target dist >/dev/null
tarball=${CT_BARE_ROOT:-$work/root.tar}
[ -e "$tarball" ] || (. /etc/os-release && mmdebstrap --quiet --variant=essential --include=python3-venv "$VERSION_CODENAME" "$tarball" - <<<"$(sources)")
tar -C "$root" -xf "$tarball" --exclude='./dev/*'
mkdir -p "$root/dev/shm" "$root/packages"
[ -c "$root/dev/null" ] || mknod -m 666 "$root/dev/null" c 1 3
cp "$build"/packages/commtrace[-_]* "$data/four_ranks.jsonl" "$root/packages/"

# inside COMMAND...: in the root with /proc of its own, which goes with the command, and an empty environment.
inside() { unshare --mount --pid --fork --mount-proc --root="$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C "$@"; }
# works COMMTRACE PREFIX: what someone does first with it.
works() {
	local commtrace=$1 prefix=$2
	[ "$(inside "$commtrace" preload)" = "$prefix/lib/libcommtrace.so" ] || { echo "preload of $commtrace"; return 1; }
	inside "$commtrace" doctor >"$work/doctor" || { cat "$work/doctor"; return 1; }
	inside "$commtrace" run --quiet -o "/run-$3" -- /bin/sh -c 'grep -q libcommtrace /proc/self/maps && exit 7' && status=0 || status=$?
	[ $status = 7 ] || { echo "run: status $status, not that of the program with the library in it"; return 1; }
	inside "$commtrace" import jsonl /packages/four_ranks.jsonl -o "/imported-$3" >/dev/null
	inside "$commtrace" report "/imported-$3" --format=json | grep -q '"code": "STRAGGLER"' || { echo "no straggler in the report"; return 1; }
	inside "$commtrace" report "/imported-$3" -o "/report-$3.html"
	inside "$commtrace" report "/imported-$3" --expect=general >/dev/null || { echo "no profile of --expect"; return 1; }
	[ -s "$root$prefix/share/man/man1/commtrace-report.1" ] || { echo "no manual page"; return 1; }
	[ -s "$root$prefix/share/bash-completion/completions/commtrace" ] || { echo "no completion"; return 1; }
	if [ -e "$build/bin/commtrace-stacks" ]; then
		# until the new process is asleep; before, it has the command line of the shell
		inside sh -c 'sleep 99 & for _ in $(seq 50); do '"$commtrace"' stacks $! >/stacks && ! grep -q "[n]anosleep (libc" /stacks || break; sleep 0.1; done; cat /stacks' >"$work/stacks"
		grep -q '[n]anosleep (libc' "$work/stacks" || { cat "$work/stacks"; echo "no stack of sleep"; return 1; }
	fi
	inside "$commtrace" version --build | grep -q '^libraries .*zstd' || { echo "version --build names no libraries"; return 1; }
	echo "$3: $(inside "$commtrace" version)"
}

inside sh -c 'tar -C /opt -xzf /packages/commtrace-*.tar.gz && mv /opt/commtrace-* /opt/commtrace'
works /opt/commtrace/bin/commtrace /opt/commtrace tarball

inside find /usr -xdev >"$work/before"
inside sh -c 'dpkg -i /packages/commtrace_*.deb' >/dev/null
works /usr/bin/commtrace /usr deb
inside dpkg --verify commtrace
inside dpkg --purge commtrace >/dev/null
inside find /usr -xdev >"$work/after"
diff "$work/before" "$work/after" || { echo "the Debian package leaves something behind"; exit 1; }

inside python3 -m venv /venv
inside sh -c '/venv/bin/pip install --quiet --no-index /packages/commtrace-*.whl'
works /venv/bin/commtrace /venv wheel
inside /venv/bin/python3 -c 'import commtrace; commtrace.mark(1, 2)'
inside /venv/bin/pip uninstall --quiet --yes commtrace
[ ! -e "$root/venv/bin/commtrace" ] && [ ! -e "$root/venv/lib/libcommtrace.so" ] || { echo "the wheel leaves something behind"; exit 1; }
