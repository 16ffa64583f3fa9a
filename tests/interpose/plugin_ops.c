/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_ops.c — hold a run that NCCL's profiler plugin alone has recorded against the journals of
 * commtrace-simjob.
 *
 *     plugin_ops [--killed] RUN JOURNAL RANKS
 *
 * Each rank has as many ops of each operation and size as its journal has calls, an all-to-all
 * being as many sends and receives as there are ranks; each is marked, returned, and has one
 * detail. After a kill there may be fewer: those of the end. Prints how much was compared; the
 * first difference is exit status 1. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/e2e/evidence.h"
#include "tools/sim/job/journal.h"
#include "trace/ops.h"

enum { MAX_CLASSES = 1024, AT_THE_END = 64 };

/* Ops of one kind. */
struct class
{
	unsigned op;
	uint64_t bytes;
	int64_t called, recorded;
};

static struct class classes[MAX_CLASSES];
static size_t n_classes;
static int killed;
static uint64_t total, details, launches, timed;

static struct class *class_of(unsigned op, uint64_t bytes)
{
	for (size_t i = 0; i < n_classes; i++)
		if (classes[i].op == op && classes[i].bytes == bytes)
			return &classes[i];
	if (n_classes == MAX_CLASSES)
		abort();
	classes[n_classes] = (struct class){ .op = op, .bytes = bytes };
	return &classes[n_classes++];
}

static void __attribute__((noreturn)) differ(int rank, const char *what, uint64_t n)
{
	fprintf(stderr, "plugin_ops: rank %d: %s (%" PRIu64 ")\n", rank, what, n);
	exit(1);
}

static void count_calls(const struct simjob_journal *j, int n_ranks)
{
	for (uint64_t i = 0; i < j->lane[0].entered; i++) {
		const struct simjob_entry *e = &j->entry[0][i];

		if (e->op >= 100)
			continue;
		if (e->op == CT_OP_AllToAll) {
			class_of(CT_OP_Send, e->bytes)->called += n_ranks;
			class_of(CT_OP_Recv, e->bytes)->called += n_ranks;
		} else {
			class_of(e->op, e->bytes)->called++;
		}
	}
}

static void count_ops(const struct evidence *e, int rank)
{
	for (size_t i = 0; i < e->n_ops; i++) {
		const struct ct_op *op = &e->ops[i];

		if (!(op->flags & CT_OP_PLUGIN))
			differ(rank, "an op is not marked", i);
		if (!op->return_ns && !killed)
			differ(rank, "an op has not returned", i);
		if (ct_op_class(op->op) == CT_CLASS_P2P && op->peer < 0)
			differ(rank, "a message has no peer", i);
		class_of(op->op, op->count * ct_dtype_bytes(op->dtype))->recorded++;
	}
}

static uint64_t count_details(const struct ct_run *run, const struct ct_process_info *process)
{
	struct ct_err err = { .status = CT_OK };
	struct ct_process_reader *reader;
	const struct ct_block *block;
	struct ct_detail_rec rec;
	uint64_t n = 0;

	if (ct_process_open(run, (size_t)(process - run->processes), &reader, &err) != CT_OK)
		return 0;
	while (ct_process_next(reader, &block, &err) == 1)
		for (uint32_t i = 0; i < block->n_rares; i++) {
			if (block->rares[i].kind != CT_KIND_DETAIL)
				continue;
			ct_rare_get(block, &block->rares[i], &rec, sizeof(rec));
			n += rec.op != 0;
		}
	ct_process_close(reader);
	return n;
}

static void compare(const struct ct_run *run, const struct simjob_journal *j, int n_ranks)
{
	const struct ct_process_info *process = evidence_process(run, (uint32_t)j->pid);
	struct ct_err err = { .status = CT_OK };
	struct evidence e;
	uint64_t missing = 0;

	n_classes = 0;
	count_calls(j, n_ranks);
	if (!process)
		differ(j->rank, "nothing is recorded", 0);
	if (evidence_read(run, process, &e, &err) != CT_OK)
		differ(j->rank, err.text, 0);
	count_ops(&e, j->rank);
	for (size_t i = 0; i < n_classes; i++) {
		if (classes[i].recorded > classes[i].called)
			differ(j->rank, ct_op_name(classes[i].op), classes[i].bytes);
		missing += (uint64_t)(classes[i].called - classes[i].recorded);
	}
	/* messages are recorded when their group has ended */
	if (missing > (killed ? AT_THE_END : 0))
		differ(j->rank, "ops are missing", missing);
	total += e.n_ops;
	details += count_details(run, process);
	for (size_t i = 0; i < e.n_launches; i++) {
		const struct ct_launch *l = &e.launches[i];

		launches++;
		timed += l->start_source == CT_SOURCE_PLUGIN && l->end_source == CT_SOURCE_PLUGIN &&
			 l->end_ns >= l->start_ns;
	}
	evidence_free(&e);
}

static const struct simjob_journal *map_journals(const char *path, int n_ranks)
{
	const size_t size = sizeof(struct simjob_journal) * (size_t)n_ranks;
	int fd = open(path, O_RDONLY);
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st) || (uint64_t)st.st_size != size)
		return NULL;
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	return map == MAP_FAILED ? NULL : map;
}

int main(int argc, char **argv)
{
	const struct simjob_journal *journals;
	const char *paths[1];
	struct ct_run *run;
	int n_ranks;

	killed = argc > 1 && !strcmp(argv[1], "--killed");
	argv += killed;
	if (argc - killed != 4)
		return 2;
	paths[0] = argv[1];
	n_ranks = atoi(argv[3]);
	journals = map_journals(argv[2], n_ranks);
	run = evidence_open("plugin_ops", paths, 1);
	if (!run || !journals)
		return 1;
	for (int rank = 0; rank < n_ranks; rank++)
		compare(run, &journals[rank], n_ranks);
	ct_run_close(run);
	if (!total || (!killed && details != total))
		differ(-1, "as many details as ops are missing", total - details);
	printf("%" PRIu64 " ops, %" PRIu64 " details, %" PRIu64 " launches, %" PRIu64 " timed\n",
	       total, details, launches, timed);
	return 0;
}
