#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What of a program's libraries passes unseen: each of them is made here, in the shape of the real one.
. "$data/doctor.bash"
FOUND='NCCL.*|BACKEND|COPIES|CUDART_STATIC|NVSHMEM|DEEPEP|MSCCLPP|UCX_DIRECT|OTHER_DLSYM_HOOK'
export LD_LIBRARY_PATH=$PWD

nccl='int ncclAllReduce(void) { return 0; } const char ncclText[] = "NCCL version 2.28.9+cuda13.0";'
use='int ncclAllReduce(void); int use(void); int use(void) { return ncclAllReduce(); }'
echo "$nccl" | compiled libnccl.so.2 -shared -fPIC -Wl,-soname,libnccl.so.2
mkdir second
cp libnccl.so.2 second/
echo "$nccl $use" | compiled libvisible.so -shared -fPIC -fsemantic-interposition
echo "$nccl $use" | compiled libsymbolic.so -shared -fPIC -Wl,-Bsymbolic
echo "$nccl $use" | compiled libfunctions.so -shared -fPIC -Wl,-Bsymbolic-functions
echo "$nccl $use" | sed 's/int ncclAllReduce/__attribute__((visibility("hidden"))) &/' | compiled libhidden.so -shared -fPIC
echo "$use" | compiled libcaller.so -shared -fPIC libnccl.so.2
echo 'int use(void) { return 0; }' | compiled libdeep_ep_cpp.so -shared -fPIC
cp libdeep_ep_cpp.so deep_ep_cpp.cpython-311.so
cp libdeep_ep_cpp.so libnvshmem_host.so.3
cp libdeep_ep_cpp.so libmscclpp.so.0
echo 'int ucp_worker_create(void); int use(void) { return ucp_worker_create(); }' | compiled libmy_ucx_user.so -shared -fPIC
echo 'int ncclDevCommCreate(void); int use(void) { return ncclDevCommCreate(); }' | compiled libdevice.so -shared -fPIC

# with NAME LIBRARY...: a program that needs these.
with() {
	local name=$1
	shift
	echo 'int use(void) __attribute__((weak)); int main(void) { return use ? use() : 0; }' |
		compiled "$name" -Wl,--no-as-needed -Wl,--unresolved-symbols=ignore-all "$@"
	ask "$FOUND" -- "./$name"
}
echo "= through the loader"; with caller libcaller.so
echo "= visible in another library"; with visible libvisible.so
echo "= -Bsymbolic"; with symbolic libsymbolic.so
echo "= -Bsymbolic-functions"; with functions libfunctions.so
echo "= hidden"; with hidden libhidden.so
echo "= two copies"; ask "$FOUND" VLLM_NCCL_SO_PATH="$PWD/second/libnccl.so.2" -- ./caller
echo "= in the program"
echo "$nccl $use int main(void) { return use(); }" | compiled linked -rdynamic
ask "$FOUND" -- ./linked
echo "$nccl $use int main(void) { return use(); }" | compiled linked
ask "$FOUND" -- ./linked
echo "= static cudart"
echo 'const char text[] = "cudaErrorStartupFailure"; int main(void) { return text[0] == 0; }' | compiled cudart
ask "$FOUND" -- ./cudart
echo "= others"
with deepep ./deep_ep_cpp.cpython-311.so
with nvshmem -l:libnvshmem_host.so.3 -L.
with mscclpp -l:libmscclpp.so.0 -L.
with ucx libmy_ucx_user.so
with device libdevice.so

echo "= what a Python would find"
python=$(command -v /usr/bin/python3 || command -v python3)
mkdir -p site/nvidia/nccl/lib site/torch/lib
touch site/torch/__init__.py train.py
cp libnccl.so.2 site/nvidia/nccl/lib/
cp libcaller.so site/torch/lib/libtorch_cuda.so
cp libdeep_ep_cpp.so site/deep_ep_cpp.so
# (a package of that name may be installed, too: these come first)
ask 'INTERPRETER|NCCL|DEEPEP' PYTHONPATH="$PWD/site" -- "$python" -c 'exit(1)' | sed "s|$(readlink -f "$python")|PYTHON|; s|$python|PYTHON|"
cp libhidden.so site/torch/lib/libtorch_cuda.so
printf '#!%s\nimport sys\nsys.exit(1)\n' "$python" >torchrun
chmod +x torchrun
ask 'NCCL_HIDDEN' PYTHONPATH="$PWD/site" -- ./torchrun --nproc_per_node 8 train.py
