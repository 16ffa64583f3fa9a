#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a command line would start, and whether the loader would take the library into it.
. "$data/doctor.bash"
PROGRAM='PROGRAM|STATIC|SECURE_EXEC|ARCHITECTURE|LOADER|BOUND|LAUNCHER|CONTAINER|STARTED'

echo 'int main(void) { return 0; }' >main.c
gcc -o dynamic main.c
gcc -static -o static main.c
echo "= programs"
ask "$PROGRAM" -- ./dynamic --option -x
ask "$PROGRAM" -- ./static
ask "$PROGRAM" PATH="$PWD:$PATH" -- dynamic
ask "$PROGRAM" -- ./gone
ask "$PROGRAM" -- gone-from-path
ask "$PROGRAM" -- .
ask "$PROGRAM" -- /dev/null
ask "$PROGRAM" -- ''
echo "= no such right"
cp dynamic forbidden
chmod 0644 forbidden
ask "$PROGRAM" -- ./forbidden
: >nothing
chmod +x nothing
ask "$PROGRAM" -- ./nothing

echo "= scripts"
script() {
	printf '%s\n' "$2" "exit 0" >"$1"
	chmod +x "$1"
}
script by_env '#!/usr/bin/env -S NAME=value ./dynamic -u'
script by_path "#!$PWD/dynamic -u"
script by_script '#!./by_path'
script by_none '#!'
script by_gone '#!/no/such/interpreter'
script by_static '#!./static'
script by_itself '#!./by_itself'
for name in by_env by_path by_script by_none by_gone by_static by_itself; do
	ask "$PROGRAM" -- ./$name
done

echo "= other machines and loaders"
cp dynamic other
printf '\xb7' | dd of=other bs=1 seek=18 conv=notrunc status=none # EM_AARCH64
ask "$PROGRAM" -- ./other
sed 's|/lib64/ld-linux-x86-64.so.2|/lib64/ld-musll-x86-64.so.1|' dynamic >musl
chmod +x musl
ask "$PROGRAM" -- ./musl

echo "= rights of its own"
# A file that belongs to someone else: root makes one, others use one of root's.
if [ "$(id -u)" = 0 ]; then
	cp dynamic other_user
	chown 65534 other_user
	chmod u+s other_user
else
	cp -p "$(command -v su)" other_user 2>/dev/null
	ln -sf "$(command -v su)" other_user
fi
ask "$PROGRAM" -- ./other_user
[ "$(id -u)" != 0 ] || { chown 0:65534 other_user; chmod 02755 other_user; }
ask "$PROGRAM" -- ./other_user | sed 's/setuid/setgid/'

echo "= programs that start programs"
mkdir bin
for name in mpirun docker nice env timeout taskset numactl srun torchrun python3 commtrace mpirun.mpich; do
	ln -s "$PWD/dynamic" bin/$name
done
ask "$PROGRAM" -- bin/nice -n 5 ./static
ask "$PROGRAM" -- bin/nice NAME=value -n 5 ./by_path
ask "$PROGRAM" -- bin/mpirun -n 4 ./dynamic
ask "$PROGRAM" -- bin/docker run image ./dynamic
# behind ARGUMENTS...: what is said of the program behind the launcher.
behind() {
	echo "$*"
	ask "$PROGRAM" -- "$@" | grep -vE '^OK|^ do: |^exit|^$|^UNKNOWN LAUNCHER' | cut -d: -f1-2
}
echo "= which of a launcher's words is the program"
behind bin/mpirun ./static
behind bin/mpirun -np 2 --map-by core -mca btl self -x LD_PRELOAD --bind-to=core --oversubscribe ./static ./dynamic
behind bin/mpirun.mpich -n 2 -genv NAME ./dynamic -genv OTHER=value -hosts ./dynamic ./static
behind bin/mpirun -np 2 ./gone
behind bin/mpirun --hostfile ./dynamic ./static
behind bin/mpirun --new-option ./dynamic ./static
behind bin/mpirun --new-option word ./static
behind bin/mpirun --new-option word
behind bin/mpirun -wdir /tmp ./gone
behind bin/mpirun -n 2 : -n 1
behind bin/mpirun -n 1 ./dynamic : -n 1 ./static : -n 1 ./gone
behind bin/srun -n4 --gpus-per-node 8 -p ./dynamic bin/env A=B bin/nice -n 5 bin/timeout --foreground -k 1 10 ./static
behind bin/srun --multi-prog list
behind bin/timeout 10 ./gone
behind bin/timeout ./dynamic ./static
behind bin/taskset -c 0-3 ./static
behind bin/numactl -N 0 --membind 0 ./static
behind bin/commtrace run -o ./dynamic -- ./static
behind bin/env -C / ./gone
echo "= Python files"
touch train.py
behind bin/torchrun --nproc-per-node 8 --nnodes=2 train.py ./static
behind bin/torchrun --standalone gone.py
behind bin/torchrun --no_python --rdzv_id 1 ./static
behind bin/torchrun -m package.module
behind bin/python3 -u -X dev gone.py
behind bin/python3 -c 'import gone'
behind bin/python3 -m gone
behind bin/python3 -um torch.distributed.run --nproc_per_node 8 gone.py
behind bin/python3 -m mpi4py gone.py
behind bin/mpirun -n 2 bin/python3 gone.py : bin/python3 train.py
echo "= commands of a shell"
printf '#!/bin/sh\n./static\n' >commands
chmod +x commands
behind ./commands

echo "= the library is not there for it"
mkdir 'a folder'
cp "$build/bin/commtrace" 'a folder/'
cp "$build/lib/libcommtrace.so" 'a folder/'
env "$PWD/a folder/commtrace" doctor -- ./dynamic 2>&1 | grep -E 'traced|LIBRARY|cannot preload' | sed "s|$PWD|HERE|"
rm 'a folder/libcommtrace.so'
mv 'a folder' folder
env folder/commtrace doctor -- ./dynamic 2>&1 | grep -E 'traced|LIBRARY' | sed "s|$PWD|HERE|"
