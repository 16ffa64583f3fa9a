#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The manifests of examples/kubernetes: they are YAML whose volumes exist, and the commands of their containers do what they are for. In relocate of
# containers, with namespaces: 64 MB of /dev/shm, everything else read-only but the volumes, and not as root. The job hangs, and is killed.
# `sidecar`: that pod alone. `--possible`: whether this machine has what is needed.
possible() { [ "$(id -u)" = 0 ] && unshare -mpf --mount-proc true && setpriv --reuid=1000 --regid=1000 --clear-groups true && /usr/bin/python3 -c 'import yaml'; }
[ "${1:-}" != --possible ] || { possible; exit; }
. "$(dirname "$0")/../e2e/e2e.sh"
export COMMTRACE_QUIET=1 COMMTRACE_HANG_AFTER=1s
unset COMMTRACE_RING_DIR
chmod 755 "$work"

# Volumes are below $work; what a container runs goes into files.
/usr/bin/python3 - "$root/examples/kubernetes" "$work" <<'END' || fail "manifests"
import pathlib, re, shlex, sys, yaml

def relocate(text):
    return re.sub(r"(?<![\w.])/(?=results|rings|commtrace/|opt/commtrace|var/lib/commtrace)", f"{sys.argv[2]}/v/", text)

for file in pathlib.Path(sys.argv[1]).glob("*.yaml"):
    manifest = yaml.safe_load(file.read_text())
    assert manifest["apiVersion"] and manifest["kind"] and manifest["metadata"]["name"], file
    pod = manifest["spec"]["template"]["spec"] if manifest["kind"] == "DaemonSet" else manifest["spec"]
    volumes = {volume["name"] for volume in pod["volumes"]}
    for container in pod["initContainers"] + pod["containers"]:
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes, container["name"]
        assert all(isinstance(word, str) for word in container["command"]), container["command"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        env = {row["name"]: row["value"] for row in container.get("env", [])}
        assert all(isinstance(value, str) for value in env.values()), env
        lines = [f"export {name}={shlex.quote(relocate(value))}" for name, value in env.items()]
        if container["name"] != "train":
            lines.append("exec " + shlex.join(relocate(word) for word in container["command"]))
        (pathlib.Path(sys.argv[2]) / f"{file.stem}.{container['name']}").write_text("\n".join(lines) + "\n")
END

mkdir -p bin v/results v/rings v/commtrace v/opt/commtrace v/var/lib/commtrace
ln -s "$commtrace" bin/commtrace
printf '#!/bin/sh\ncat >"%s/v/results/hook.json"\n' "$work" >bin/curl
chmod +x bin/curl
cat >job <<-END
	mkdir -p \$1
	for rank in 0 1 2; do
		RANK=\$rank WORLD_SIZE=3 "$gloo_job" --rank \$rank --size 3 --store \$1 --mode collectives --timeout-s 3600 --ops 5 \
			--pace-us \$((rank == 1 ? 60000000 : 0)) &
	done
END
export PATH=$work/bin:$PATH

# ---- the pod with a sidecar ----
cat >pod <<-END
	set -e
	mount -t tmpfs -o size=64m tmpfs /dev/shm
	for volume in results rings commtrace; do
		mount --bind $work/v/\$volume $work/v/\$volume
		chown 1000:1000 $work/v/\$volume
	done
	mount -o remount,bind,ro /
	mount | grep -q ' on /tmp ' && mount -o remount,bind,ro /tmp
	exec setpriv --reuid=1000 --regid=1000 --clear-groups bash $work/user
END
cat >user <<-END
	touch $work/probe 2>/dev/null && { echo "the root is not read-only"; exit 1; }
	sh $work/sidecar.install || exit 1
	(. $work/sidecar.train; . $work/job $work/v/results/store; wait) &
	sh $work/sidecar.commtrace &
	for _ in \$(seq 600); do [ -s $work/v/results/hook.json ] && break; sleep 0.1; done
	sleep 1
	df --output=used -k /dev/shm | tail -n 1 >$work/v/results/shm
END
timeout -k 5 200 unshare -mpf --mount-proc --propagation private bash pod >out 2>&1 || fail "the pod: exit $?: $(cat out)"
[ "$(jq -c '[.event, .hang.verdicts[0].ranks]' v/results/hook.json)" = '["hang",[1]]' ] || fail "the hook got: $(cat v/results/hook.json) $(cat out)"
tar -tf v/results/run/verdict-*.tar | grep '^run/.*ring' >/dev/null || fail "no rings in the evidence: $(ls v/results/run)"
[ "$(stat -c %u v/results/run)" = 1000 ] || fail "the run is not the user's"
[ "$(cat v/results/shm)" -lt 1024 ] || fail "/dev/shm holds $(cat v/results/shm) kB"
echo "sidecar: the hook names rank 1, the evidence is on the volume"
[ "${1:-}" != sidecar ] || exit 0

# ---- a node with two users, whose jobs are killed ----
sh daemonset.install || fail "install"
[ -r v/opt/commtrace/lib/libcommtrace.so ] || fail "not installed"
node=$work/v/var/lib/commtrace
cat >node <<-END
	for user in 1001 1002; do
		setpriv --reuid=\$user --regid=\$user --clear-groups bash -c '
			umask 077
			export LD_PRELOAD=$work/v/opt/commtrace/lib/libcommtrace.so COMMTRACE_RING_DIR=$node/rings COMMTRACE_DIR=$node/runs/'\$user'
			. $work/job /dev/shm/store.'\$user' >/dev/null 2>&1
			for _ in \$(seq 300); do env -u LD_PRELOAD commtrace hang $node/runs/'\$user' >/dev/null 2>&1; [ \$? = 3 ] && break; sleep 0.2; done
			env -u LD_PRELOAD bash -c "kill -9 \$(jobs -p | tr "\\n" " ")"
			wait'
	done
	mount -o remount,bind,ro $node/..
	(. $work/daemonset.collect) &
	for _ in \$(seq 100); do ls $node/rings | grep -q . || break; sleep 0.1; done
END
mount_own="mount --bind $work/v/var/lib/commtrace $work/v/var/lib/commtrace && mount -t tmpfs -o size=64m tmpfs /dev/shm"
timeout -k 5 200 unshare -mpf --mount-proc --propagation private bash -c "$mount_own && bash node" >out 2>&1 || fail "the node: exit $?: $(cat out)"
[ -z "$(ls "$node/rings")" ] || fail "rings are left: $(ls -l "$node/rings") $(cat out)"
for user in 1001 1002; do
	[ "$(stat -c %u:%a "$node/runs/$user")" = $user:700 ] || fail "the run of $user: $(stat -c %u:%a "$node/runs/$user")"
	setpriv --reuid=$user --regid=$user --clear-groups ls "$node/runs/$((2003 - user))" >/dev/null 2>&1 && fail "$user reads the other one's run"
	code=0
	setpriv --reuid=$user --regid=$user --clear-groups commtrace hang "$node/runs/$user" --json >said || code=$?
	[ "$(jq -c '[.verdicts[] | .code, .ranks]' said)" = '["NEVER_ENTERED",[1]]' ] || fail "$user: exit $code: $(cat said)"
done
echo "daemonset: two users, each with its own run, which names rank 1"
echo "METRIC hang.kubernetes_recipes 2 >=2"
