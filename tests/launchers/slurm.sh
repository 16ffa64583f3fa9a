# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# slurm.sh — sourced by tests that need Slurm: a cluster of this one machine, with its own keys, ports and directory. No systemd, no
# control groups, and no daemon of the machine's own is touched. Debian's slurmctld, slurmd, slurm-client and munge are enough.
#
#   slurm_start DIR [SETTING=VALUE...]   starts it (further lines of slurm.conf, such as Epilog=FILE), sets SLURM_CONF
#   slurm_stop                           ends its daemons
#
# Daemons that stay in the foreground are jobs of the calling shell.
slurm_pids=()

# slurm_possible: whether this machine has what is needed.
slurm_possible() {
	[ "$(id -u)" = 0 ] && command -v slurmctld slurmd munged srun sinfo >/dev/null
}

# slurm_until SECONDS COMMAND...: it succeeds within that time.
slurm_until() {
	local tries=$(($1 * 5))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $((tries--)) -gt 0 ] || return 1
		sleep 0.2
	done
}

slurm_start() {
	local dir=$1 host control node name
	shift
	host=$(uname -n)
	control=$("$python" "$root/tools/free_port.py") node=$("$python" "$root/tools/free_port.py")
	mkdir -p "$dir/state" "$dir/spool"
	(umask 077 && head -c 1024 /dev/urandom >"$dir/munge.key")
	munged --foreground --force --num-threads=2 --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munge.pid" \
		--log-file="$dir/munge.log" --seed-file="$dir/munge.seed" >"$dir/munged.out" 2>&1 &
	slurm_pids+=($!)
	cat >"$dir/slurm.conf" <<-END
		ClusterName=test
		SlurmctldHost=$host(127.0.0.1)
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$dir/munge.socket
		CredType=cred/munge
		SlurmctldPort=$control
		SlurmdPort=$node
		StateSaveLocation=$dir/state
		SlurmdSpoolDir=$dir/spool
		SlurmctldPidFile=$dir/slurmctld.pid
		SlurmdPidFile=$dir/slurmd.pid
		SlurmctldLogFile=$dir/slurmctld.log
		SlurmdLogFile=$dir/slurmd.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		MpiDefault=none
		ReturnToService=2
		KillWait=2
		NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
		PartitionName=all Nodes=$host Default=YES OverSubscribe=YES MaxTime=INFINITE State=UP
		$(for name in "$@"; do echo "$name"; done)
	END
	export SLURM_CONF=$dir/slurm.conf
	slurm_until 30 test -S "$dir/munge.socket" || return 1
	slurmctld -D -i >"$dir/slurmctld.out" 2>&1 &
	slurm_pids+=($!)
	slurmd -D -N "$host" >"$dir/slurmd.out" 2>&1 &
	slurm_pids+=($!)
	slurm_until 60 slurm_is_up
}

slurm_is_up() {
	[ "$(timeout 10 sinfo -h -o %t)" = idle ]
}

slurm_stop() {
	local pid
	for pid in "${slurm_pids[@]}"; do
		kill "$pid" 2>/dev/null || true
	done
	wait "${slurm_pids[@]}" 2>/dev/null || true
	slurm_pids=()
}
