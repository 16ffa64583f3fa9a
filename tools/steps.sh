# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034
# steps.sh — sourced by demo.sh and test.sh, in the root of the repository: what they say, what
# they install, and the one job that they all record.

BUILD_PACKAGES="gcc libc6-dev cmake ninja-build libzstd-dev libjansson-dev zlib1g-dev libdeflate-dev libelf-dev libprotobuf-c-dev protobuf-c-compiler libncurses-dev libunwind-dev libiberty-dev libmicrohttpd-dev"
DEMO_PACKAGES="python3-torch"
# Where node did not come from Debian, npm came with it.
NODE_PACKAGES=
command -v node >/dev/null && command -v npm >/dev/null || NODE_PACKAGES=" nodejs npm"
TEST_PACKAGES="g++ libcmocka-dev libgloo-dev clang libclang-rt-14-dev clang-format-14 binutils valgrind strace gdb util-linux g++-aarch64-linux-gnu qemu-user-static openmpi-bin libopenmpi-dev mpich libmpich-dev gfortran python3-mpi4py jq hpcc netpipe-openmpi netpipe-mpich2 scalapack-mpi-test libjemalloc2 chromium chromium-driver fonts-dejavu-core librsvg2-bin groff-base zsh mmdebstrap slurmctld slurmd slurm-client munge python3-yaml prometheus$NODE_PACKAGES"
GATE_PACKAGES="babeltrace2 valgrind"

LOGS=build-logs

# say TEXT...: one line of progress.
say() {
	printf '== %s\n' "$*"
}

# die TEXT...: one line that says why, and out.
die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# quietly NAME COMMAND...: what the command prints goes to a file, and is shown only if it fails.
quietly() {
	log=$LOGS/$1.log
	shift
	mkdir -p "$LOGS"
	"$@" >"$log" 2>&1 || {
		cat "$log" >&2
		die "failed: $*"
	}
}

# packages PACKAGE...: installs those that are missing. Needs no network and no rights when nothing is.
packages() {
	if ! command -v dpkg-query >/dev/null; then
		say "not a Debian system; this needs its equivalents of: $*"
		return 0
	fi
	missing=
	for package in "$@"; do
		state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=
		[ "$state" = installed ] || missing="$missing $package"
	done
	[ -n "$missing" ] || return 0

	if [ "$(id -u)" = 0 ]; then
		as_root=
	elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
		as_root="sudo -n"
	else
		die "packages are missing; as root: apt-get install --no-install-recommends$missing"
	fi
	say "installing$missing"
	# Both variables are lists of words.
	# shellcheck disable=SC2086
	quietly apt-update $as_root apt-get update
	# shellcheck disable=SC2086
	quietly apt-install $as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y --no-install-recommends $missing
}

# torch_python: the Python that has torch; Debian's own, which need not be the first one in PATH, is asked first.
torch_python() {
	for python in /usr/bin/python3 python3; do
		if "$python" -c 'import importlib.util as u; exit(not u.find_spec("torch"))' 2>/dev/null; then
			echo "$python"
			return 0
		fi
	done
	return 1
}

# record_ddp COMMTRACE DIR ARGS...: a torchrun job of 4 ranks (DDP over Gloo), recorded into DIR/run; the ranks' own
# output is in DIR/log. torchrun of torch 1.13 under Python 3.11 starts only with -r 1 -t 1.
record_ddp() {
	commtrace=$1
	dir=$2
	shift 2
	python=$(torch_python) || die "no Python with torch; on Debian: apt-get install python3-torch"
	port=$("$python" tools/free_port.py)
	rm -rf "$dir"
	mkdir -p "$dir"
	OMP_NUM_THREADS=1 "$commtrace" run -o "$dir/run" -- \
		"$python" -m torch.distributed.run -r 1 -t 1 --log_dir "$dir/log" --nproc_per_node=4 \
		--master_addr 127.0.0.1 --master_port "$port" examples/torch_ddp/train.py "$@"
}
