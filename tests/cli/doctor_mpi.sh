#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What doctor says of MPI: which library a program would get, and of which flavour. Each is made here in the shape of the real
# one; the real ones are asked in tests/mpi/static.sh.
. "$data/doctor.bash"
export LD_LIBRARY_PATH=$PWD
FOUND='MPI.*|NCCL|GLOO|BACKEND'
all='int MPI_Init(void) { return 0; } int PMPI_Init(void) { return 0; } int MPI_Finalize(void) { return 0; }'
library() { # NAME DECLARATIONS
	echo "$all $2" | compiled "$1" -shared -fPIC -Wl,-soname,"$1"
}
library libmpi.so.40 'int ompi_mpi_comm_world;'
library libmpich.so.12 'void MPIR_Dup_fn(void) {}'
library libmpi_abi.so.0 'int MPI_Abi_get_version(void) { return 1; }'
library libmpi_other.so.1 ''
echo "$all int mpi_finalize_(void) { return MPI_Finalize(); }" | sed 's/int MPI_F[^}]*}/int MPI_Finalize(void);/; s/int P*MPI_Init[^}]*}//g' |
	compiled libmpi_fortran.so.40 -shared -fPIC libmpi.so.40
for library in libmpi.so.40 libmpich.so.12 libmpi_abi.so.0 libmpi_other.so.1; do
	echo "= $library"
	echo 'int MPI_Finalize(void); int main(void) { return MPI_Finalize(); }' | compiled program "$library"
	ask "$FOUND" -- ./program
done
echo "= Fortran"
echo 'int mpi_finalize_(void); int main(void) { return mpi_finalize_(); }' |
	compiled fortran libmpi_fortran.so.40 -Wl,-rpath-link,.
ask "$FOUND" -- ./fortran
echo "= a tool that wraps MPI is none"
echo 'int MPI_Init(void) { return 0; }' | compiled tool.so -shared -fPIC
echo 'int main(void) { return 0; }' | compiled tooled -Wl,--no-as-needed ./tool.so
ask "$FOUND" -- ./tooled
echo "= what a Python would find"
python=$(command -v /usr/bin/python3 || command -v python3)
mkdir -p site/mpi4py
touch site/mpi4py/__init__.py train.py
echo 'int MPI_Finalize(void); int use(void) { return MPI_Finalize(); }' |
	compiled site/mpi4py/MPI.cpython-311.so -shared -fPIC libmpich.so.12
ask MPI PYTHONPATH="$PWD/site" -- "$python" train.py
