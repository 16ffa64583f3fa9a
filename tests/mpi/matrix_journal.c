/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/matrix.h"
#include "tests/mpi/matrix_journal.h"

#define MAX_COMMS 128
#define MAX_NOTES 8192

struct named {
	MPI_Comm comm;
	char name[48];
	int alive;
};

struct written {
	struct note n;
	char comm[48];
	int lane;
	const char *end;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct named comms[MAX_COMMS];
static int n_comms;
static struct written notes[MAX_NOTES];
static size_t n_notes;
static FILE *comms_file;

_Thread_local int lane;

static void stop(const char *why)
{
	fprintf(stderr, "matrix: %s\n", why);
	MPI_Abort(MPI_COMM_WORLD, 9);
}

static const char *name_of(MPI_Comm comm)
{
	for (int i = n_comms; i-- > 0;) {
		if (comms[i].alive && comms[i].comm == comm)
			return comms[i].name;
	}
	stop("a communicator has no name");
	return "";
}

size_t note(struct note n)
{
	struct written *w;
	size_t which;

	pthread_mutex_lock(&lock);
	if (n_notes == MAX_NOTES)
		stop("the journal is full");
	which = n_notes++;
	w = &notes[which];
	*w = (struct written){ .n = n, .lane = lane, .end = "finished" };
	snprintf(w->comm, sizeof(w->comm), "%s", n.on ? n.on : name_of(n.comm));
	pthread_mutex_unlock(&lock);
	return which;
}

void note_match(size_t which, const MPI_Status *status)
{
	int bytes;

	notes[which].n.peer = status->MPI_SOURCE;
	notes[which].n.tag = status->MPI_TAG;
	MPI_Get_count(status, MPI_BYTE, &bytes);
	notes[which].n.arrived = bytes;
}

void note_cancelled(size_t which)
{
	notes[which].end = "cancelled";
	notes[which].n.arrived = 0;
}

/* Ranks in MPI_COMM_WORLD of a group's members. */
static void print_members(MPI_Group group)
{
	int n, of_group[64], of_world[64];
	MPI_Group world;

	MPI_Group_size(group, &n);
	for (int i = 0; i < n; i++)
		of_group[i] = i;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_translate_ranks(group, n, of_group, world, of_world);
	MPI_Group_free(&world);
	for (int i = 0; i < n; i++)
		fprintf(comms_file, "%s%d", i ? "," : "", of_world[i]);
}

static void print_comm(MPI_Comm comm, const char *name)
{
	MPI_Group group;
	int rank, inter;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_test_inter(comm, &inter);
	fprintf(comms_file, "comm\t%s\t%d\t", name, rank);
	MPI_Comm_group(comm, &group);
	print_members(group);
	MPI_Group_free(&group);
	fputc('\t', comms_file);
	if (inter) {
		MPI_Comm_remote_group(comm, &group);
		print_members(group);
		MPI_Group_free(&group);
	}
	fputc('\n', comms_file);
}

void name_comm(MPI_Comm comm, const char *name)
{
	if (n_comms == MAX_COMMS)
		stop("too many communicators");
	comms[n_comms].comm = comm;
	comms[n_comms].alive = 1;
	snprintf(comms[n_comms++].name, sizeof(comms[0].name), "%s", name);
	print_comm(comm, name);
	NOTE(.call = "MPI_Barrier", .op = "Barrier", .comm = comm);
	MPI_Barrier(comm);
}

void name_win(MPI_Win win, const char *name)
{
	MPI_Group group;
	int rank;

	MPI_Win_get_group(win, &group);
	MPI_Group_rank(group, &rank);
	fprintf(comms_file, "comm\t%s\t%d\t", name, rank);
	print_members(group);
	fprintf(comms_file, "\t\n");
	MPI_Group_free(&group);
}

void forget_comm(MPI_Comm comm)
{
	for (int i = 0; i < n_comms; i++) {
		if (comms[i].comm == comm)
			comms[i].alive = 0;
	}
}

void journal_open(const char *directory)
{
	char path[4096];
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(path, sizeof(path), "%s/%d.journal", directory, rank);
	comms_file = fopen(path, "w");
	if (!comms_file)
		stop("cannot write the journal");
}

/* A tabulator between fields, in the order of check_matrix.py. */
void journal_close(void)
{
	for (size_t i = 0; i < n_notes; i++) {
		const struct written *w = &notes[i];

		fprintf(comms_file,
			"op\t%d\t%s\t%s\t%s\t%lld\t%lld\t%s\t%s\t%d\t%d\t%d\t%lld\t%s\n", w->lane,
			w->n.call, w->n.op, w->comm, w->n.count, w->n.count * w->n.bytes,
			w->n.dtype ? w->n.dtype : "-", w->n.redop ? w->n.redop : "-", w->n.root,
			w->n.peer, w->n.tag, w->n.arrived, w->end);
	}
	fprintf(comms_file, "end\t%zu\n", n_notes);
	fclose(comms_file);
}
