#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What doctor says of copies of Gloo: in a library of their own or linked in, so that the loader binds their calls or not.
. "$data/doctor.bash"
export LD_LIBRARY_PATH=$PWD
FOUND='GLOO.*'
root=$data/../../..
part() { # NAME FLAGS...
	compiled "lib$1.so" -shared -fPIC -fsemantic-interposition -DCOPY_ID=1 -I"$root" "${@:2}" <"$root/tests/e2e/gloo_part.c"
	echo 'int part_train(int n); int main(void) { return part_train(0); }' | compiled "$1" "$PWD/lib$1.so"
	echo "= $1"
	ask "$FOUND" -- "./$1"
}
part visible
part symbolic -Wl,-Bsymbolic
part functions -Wl,-Bsymbolic-functions
echo '{ global: part_*; local: *; };' >map
part hidden -Wl,--version-script=map
echo "= in the program"
{ cat "$root/tests/e2e/gloo_part.c"; echo 'int main(void) { return part_train(0); }'; } |
	compiled linked -rdynamic -DCOPY_ID=1 -I"$root"
ask "$FOUND" -- ./linked
echo "= the library"
echo 'int _ZN4gloo9allreduceERKNS_16AllreduceOptionsE(void *); int main(void) { return _ZN4gloo9allreduceERKNS_16AllreduceOptionsE(0); }' |
	compiled library -l:libgloo.so.0
ask "$FOUND" -- ./library | sed 's|: /.*/libgloo|: DIR/libgloo|'
echo "= what a Python would find"
python=$(command -v /usr/bin/python3 || command -v python3)
mkdir -p site/torch/lib
touch site/torch/__init__.py train.py
cp libvisible.so site/torch/lib/libtorch_cpu.so
ask "$FOUND" PYTHONPATH="$PWD/site" -- "$python" train.py
