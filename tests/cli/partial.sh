#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Parts of a run are the run: in any split, any order, and as parts of parts, every command prints the same bytes.
# The commands that they advise name the run as it was typed.
say() {
	{
		commtrace report --json --threads=1 "$@"
		commtrace report --format=kv "$@"
		commtrace hang --json "$@"
		commtrace info --json "$@"
		commtrace dump --json "$@"
		commtrace timeline "$@" --format=tuples -o -
	} 2>&1 | sed -E "s#(commtrace (report|hang|info|timeline)) $*([ \"]|\$)#\1 RUN\3#"
}

# same RUN PART...: they do.
same() {
	local run=$1
	shift
	cmp <(say "$run") <(say "$@") && echo "$* is $run"
}

# split RUN K: parts RUN.K.1 .. RUN.K.K
split() {
	seq "$2" | xargs -P 2 -I{} commtrace partial "$1" -o "$1.$2.{}" --share="{}/$2" >counts || exit
	sort counts | sed -E 's/[0-9.]+ [KM]?i?B/N MiB/'
}

commtrace import jsonl "$data/four_ranks.jsonl" -o ranks >/dev/null
commtrace-synth -o hung --workload megatron --hosts 2 --gpus-per-host 4 --steps 6 --seed 3 --fault missing:rank=5,op=90 --clock-offset-ms 20
commtrace-synth -o slow --workload ddp --hosts 2 --gpus-per-host 4 --steps 40 --seed 4 --fault slow-rank:rank=3,pct=20
for run in ranks hung slow; do
	split $run 1
	split $run 2
	split $run 4
	same $run $run.1.1
	same $run $run.2.2 $run.2.1
	same $run $run.4.3 $run.4.1 $run.4.4 $run.4.2
	commtrace partial $run.4.4 $run.4.1 -o $run.some >/dev/null
	commtrace partial $run.some -o $run.half --share=1/2 >/dev/null
	commtrace partial $run.some -o $run.rest --share=2/2 >/dev/null
	same $run $run.rest $run.4.3 $run.half $run.4.2
	# the result of some is not the result of all
	cmp -s <(say $run) <(say $run.4.1 $run.4.2 $run.4.3) && echo "a part of $run is $run"
	rm -r $run.*
done
# What a part holds is a copy or a link: a part of a part of links has all of it, too, and the run stays as it was.
commtrace partial hung -o part >/dev/null
rm -r slow ranks
for file in part/*; do
	cmp "$file" "hung/${file##*/}"
done
commtrace partial hung -o part || echo "exit $?"
commtrace partial hung -o part --force | sed -E 's/[0-9.]+ [KM]?i?B/N MiB/'
commtrace partial hung -o part --share=9/10 --force | sed -E 's/[0-9.]+ [KM]?i?B/N MiB/'
ls part | wc -l
# a part instead of its run would lose the others
commtrace partial hung -o ./hung/ --share=1/2 --force || echo "exit $?"
ls hung | wc -l
commtrace partial hung/*.seg -o hung --share=1/2 --force || echo "exit $?"
ls hung | wc -l
# a slash at its end, as completion types it; and what was there stays until the new one is complete
commtrace partial hung -o part/ --share=1/2 --force | sed -E 's/[0-9.]+ [KM]?i?B/N MiB/'
ls -A | grep -c tmp
for share in 0/2 3/2 1 1/2x 1/0 1/-2 1/99999999999; do
	commtrace partial hung -o no --share=$share || echo "exit $?"
done
commtrace partial hung || echo "exit $?"
commtrace partial nothing -o no || echo "exit $?"
# a node that crashed may leave zeros in a file
commtrace-synth -o several --hosts 1 --gpus-per-host 2 --steps 800 --seed 5 --segment-kb 32
last=$(ls several/*.seg | tail -n 1)
head -c "$(stat -c %s "$last")" /dev/zero >zeros
mv zeros "$last"
commtrace partial several -o zeros --keep=30 | sed -E 's/[0-9.]+ [KM]?i?B/N MiB/'
cmp "$last" "zeros/${last##*/}"
# ... also in the only one of a process: one of the parts has it, so that what is said of the run is said of the parts
last=$(ls hung/*.seg | tail -n 1)
truncate -s 0 "$last"
truncate -s 3000 "$last"
for share in 1 2; do
	commtrace partial hung -o bad.$share --share=$share/2 --exact >counts 2>/dev/null
done
ls bad.*/"${last##*/}" | wc -l
cmp <(say hung | sed -E 's|hung/||') <(say bad.2 bad.1 | sed -E 's|bad[.][12]/||') && echo as is
ls
