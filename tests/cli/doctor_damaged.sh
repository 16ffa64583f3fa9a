#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Damaged programs and libraries: the doctor answers all the same, in time. (The reader alone is given many more of them by
# unit.doctor_elf.)
. "$data/doctor.bash"
RANDOM=$((${CT_SEED:-1} % 32768))
echo 'int main(void) { return 0; }' | compiled whole
size=$(stat -c %s whole)
for round in $(seq 40); do
	cp whole damaged
	if [ $((round % 4)) = 0 ]; then
		truncate -s $(((RANDOM * 32768 + RANDOM) % size)) damaged
	else # mostly in the headers
		for _ in 1 2 3; do
			at=$((RANDOM % (RANDOM % 2 ? 1024 : size)))
			printf '%b' "\\x$(printf %x $((RANDOM % 256)))" | dd of=damaged bs=1 seek=$at conv=notrunc status=none
		done
	fi
	code=0
	# (a program that has a loader would itself end by such a preload)
	timeout 20 env LD_PRELOAD="$PWD/damaged" commtrace doctor -- ./damaged >said 2>errors || code=$?
	case $code in
	0 | 3) ;;
	*) echo "round $round: exit $code: $(cat errors)" ;;
	esac
	head -n 1 said | grep -qE '^(traced|this machine): ' || echo "round $round: $(cat said)"
done
