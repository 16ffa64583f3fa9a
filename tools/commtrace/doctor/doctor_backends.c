/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/doctor/doctor_backends.h"

#include <stdio.h>
#include <string.h>

#include "trace/path.h"

enum { NCCL, GLOO, MPI, N_BACKENDS };

struct backend {
	enum ct_doctor_id id;
	const char *calls[6]; /* what communicates has one of these; Fortran has names of its own */
	char callers[200], copies[600];
	unsigned n_callers, n_copies;
	int is_called;	/* by an object that the program loads, not only by one that is installed */
	int is_strange; /* a copy whose calls may pass unrecorded */
};

static const struct backend start[N_BACKENDS] = {
	[NCCL] = { .id = CT_DOCTOR_NCCL, .calls = { "ncclAllReduce" } },
	[GLOO] = { .id = CT_DOCTOR_GLOO,
		   .calls = { "_ZN4gloo9allreduceERKNS_16AllreduceOptionsE" } },
	[MPI] = { .id = CT_DOCTOR_MPI,
		  .calls = { "MPI_Finalize", "MPI_Init", "mpi_finalize_", "mpi_finalize_f08_" } },
};
static struct backend backends[N_BACKENDS];

static void fill_backends(void)
{
	if (!backends[NCCL].id)
		memcpy(backends, start, sizeof(backends));
}

static void note(char *list, size_t size, unsigned *n, const char *name, const char *what)
{
	size_t len = strlen(list);

	snprintf(list + len, size - len, "%s%s%s", *n ? ", " : "", name, what);
	(*n)++;
}

static void note_copy(struct backend *b, const char *path, const char *what)
{
	note(b->copies, sizeof(b->copies), &b->n_copies, path, what);
}

/* Of a file that has MPI in it, by what only that one has. When it is recorded, the running
 * library's own text decides (interpose/mpi/flavour.c). */
static const char *mpi_flavour(const struct ct_doctor_elf *file)
{
	if (strncmp(file->soname, "libmpi_abi", 10) == 0)
		return " (standard ABI)";
	if (ct_elf_has(file, "ompi_mpi_comm_world") == CT_ELF_EXPORTS)
		return " (Open MPI)";
	if (ct_elf_has(file, "MPIR_Dup_fn") == CT_ELF_EXPORTS)
		return " (MPICH or of its kin)";
	return NULL;
}

void ct_doctor_backends_copy(enum ct_doctor_id id, const char *path)
{
	fill_backends();
	note_copy(&backends[id == CT_DOCTOR_NCCL ? NCCL : GLOO], path, "");
}

/* Wrappers of other tools have no PMPI_Init. */
static void look_at_mpi(const struct ct_doctor_elf *file, const char *path)
{
	const char *flavour;

	if (ct_elf_has(file, "PMPI_Init") != CT_ELF_EXPORTS)
		return;
	flavour = mpi_flavour(file);
	backends[MPI].is_strange |= !flavour;
	note_copy(&backends[MPI], path, flavour ? flavour : " (not known here)");
}

static int calls(const struct backend *b, const struct ct_doctor_elf *file)
{
	for (size_t i = 0; b->calls[i]; i++)
		if (ct_elf_has(file, b->calls[i]) == CT_ELF_IMPORTS)
			return 1;
	return 0;
}

int ct_doctor_backends_look(const struct ct_doctor_elf *file, const char *path, int is_loaded)
{
	int misses = 0;

	fill_backends();
	look_at_mpi(file, path);
	for (struct backend *b = backends; b < backends + N_BACKENDS; b++) {
		if (!calls(b, file))
			continue;
		note(b->callers, sizeof(b->callers), &b->n_callers, ct_path_name(path), "");
		b->is_called |= is_loaded;
		misses |= !b->n_copies;
	}
	return misses;
}

static void report_backend(struct ct_doctor *d, const struct backend *b)
{
	const char *where = b->n_copies ? b->copies : "";
	enum ct_doctor_answer answer = b->is_strange ? CT_DOCTOR_UNKNOWN : CT_DOCTOR_FINE;

	if (b->n_callers && !b->is_called)
		ct_doctor_add(d, b->id, answer, "recorded if %s is loaded%s%s", b->callers,
			      where[0] ? ": " : "", where);
	else if (b->n_callers)
		ct_doctor_add(d, b->id, answer, "called through the loader by %s%s%s", b->callers,
			      where[0] ? ": " : "", where);
	else
		ct_doctor_add(d, b->id, answer, "found: %s", where);
}

void ct_doctor_backends_done(struct ct_doctor *d)
{
	unsigned found = 0;

	fill_backends();
	if (backends[NCCL].n_copies > 1)
		ct_doctor_add(d, CT_DOCTOR_COPIES,
			      backends[NCCL].n_copies <= 4 ? CT_DOCTOR_FINE : CT_DOCTOR_PART,
			      "%u copies of NCCL: %s", backends[NCCL].n_copies,
			      backends[NCCL].copies);
	for (const struct backend *b = backends; b < backends + N_BACKENDS; b++) {
		if (b->n_callers + b->n_copies)
			report_backend(d, b);
		found += b->n_callers + b->n_copies;
	}
	if (!found)
		ct_doctor_add(
			d, CT_DOCTOR_BACKEND, CT_DOCTOR_UNKNOWN,
			"nothing that is known to be loaded calls NCCL, Gloo or MPI; what the "
			"program opens later (dlopen, Python modules elsewhere) is not known "
			"beforehand");
	memset(backends, 0, sizeof(backends));
}
