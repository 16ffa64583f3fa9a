/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interpose/recorded.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char scratch[64];
static char run_dir[80];
static char ring_dir[80];

static void make_dirs(void)
{
	recorded_remove();
	snprintf(scratch, sizeof(scratch), "/tmp/ct-recorded-XXXXXX");
	if (!mkdtemp(scratch))
		abort();
	snprintf(run_dir, sizeof(run_dir), "%s/run", scratch);
	snprintf(ring_dir, sizeof(ring_dir), "%s/ring", scratch);
	if (mkdir(ring_dir, 0700) != 0)
		abort();
}

int recorded_run(void (*body)(void), const char *const *env)
{
	int status = 0;
	pid_t pid;

	make_dirs();
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		setenv("COMMTRACE_DIR", run_dir, 1);
		setenv("COMMTRACE_RING_DIR", ring_dir, 1);
		setenv("COMMTRACE_QUIET", "1", 1);
		for (; env && *env; env++)
			putenv((char *)(uintptr_t)*env);
		body();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

/* The words of the errors come before them, or in the same block. */
static void take_string(struct recorded *r, const struct ct_block *block,
			const struct ct_rare *rare)
{
	struct {
		uint32_t id;
		char text[60];
	} s;

	ct_rare_get(block, rare, &s, sizeof(s));
	s.text[sizeof(s.text) - 1] = '\0';
	snprintf(r->strings[s.id % RECORDED_STRINGS], sizeof(r->strings[0]), "%.*s",
		 (int)(rare->len > 4 ? rare->len - 4 : 0), s.text);
}

static void count_rare(struct recorded *r, const struct ct_block *block, const struct ct_rare *rare)
{
	struct ct_comm_rec comm;
	struct ct_host_rec host;
	struct ct_error_rec error;

	switch (rare->kind) {
	case CT_KIND_COMM:
		ct_rare_get(block, rare, &comm, sizeof(comm));
		/* it comes again in every checkpoint, and when it has ended */
		for (uint64_t i = 0; i < r->comms && i < 16; i++)
			if (r->keys[i] == comm.key)
				return;
		if (r->comms < 16) {
			r->keys[r->comms] = comm.key;
			r->key_sources[r->comms] = comm.key_source;
		}
		r->comms++;
		break;
	case CT_KIND_HOST_END:
		ct_rare_get(block, rare, &host, sizeof(host));
		r->hosts_ended++;
		r->hosts_thrown += host.result == CT_RESULT_EXCEPTION;
		break;
	case CT_KIND_ERROR:
		ct_rare_get(block, rare, &error, sizeof(error));
		r->errors++;
		r->error_string = error.text;
		break;
	case CT_KIND_STRING:
		take_string(r, block, rare);
		break;
	default:
		break;
	}
}

static void count_block(struct recorded *r, const struct ct_block *block)
{
	for (uint32_t i = 0; i < block->n_ops; i++) {
		const struct ct_op *op = &block->ops[i];

		r->ops++;
		r->unreturned += op->return_ns == 0;
		r->exceptions += op->return_ns && op->result == CT_RESULT_EXCEPTION;
		if (op->seq < 65536)
			r->seqs[(op->comm % 64) << 16 | op->seq]++;
		r->last = *op;
	}
	for (uint32_t i = 0; i < block->n_launches; i++) {
		r->launches++;
		r->last_launch = block->launches[i];
	}
	for (uint32_t i = 0; i < block->n_rares; i++)
		count_rare(r, block, &block->rares[i]);
}

static void count_process(struct recorded *r, const struct ct_run *run, size_t index)
{
	struct ct_err err = { .status = 0 };
	struct ct_process_reader *reader;
	const struct ct_block *block;
	const struct ct_gaps *gaps;

	r->nth_sum += run->processes[index].id.nth;
	if (ct_process_open(run, index, &reader, &err) != CT_OK) {
		printf("process %zu: %s\n", index, err.text);
		return;
	}
	while (ct_process_next(reader, &block, &err) == 1)
		count_block(r, block);
	gaps = ct_process_gaps(reader);
	for (int i = 0; i < CT_LOSS_MAX; i++)
		r->losses[i] += gaps->losses[i];
	ct_process_close(reader);
}

/* NULL: there is none, or it cannot be read. */
static struct ct_run *open_run(void)
{
	const char *const paths[] = { run_dir };
	const char *const rings[] = { ring_dir, NULL };
	const struct ct_run_options options = { .ring_dirs = rings };
	struct ct_err err = { .status = 0 };
	struct ct_run *run;

	return ct_run_open(paths, 1, &options, &run, &err) == CT_OK ? run : NULL;
}

struct recorded recorded_read(void)
{
	struct recorded r = { .seqs = calloc(64, 65536) };
	struct ct_run *run = open_run();

	if (!run)
		return r;
	r.processes = run->n_processes;
	for (size_t i = 0; i < run->n_processes; i++)
		count_process(&r, run, i);
	ct_run_close(run);
	return r;
}

static void walk_process(const struct ct_run *run, size_t index,
			 void (*take)(const struct ct_block *block), uint64_t losses[CT_LOSS_MAX])
{
	struct ct_err err = { .status = 0 };
	struct ct_process_reader *reader;
	const struct ct_block *block;

	if (ct_process_open(run, index, &reader, &err) != CT_OK)
		return;
	while (ct_process_next(reader, &block, &err) == 1)
		take(block);
	memcpy(losses, ct_process_gaps(reader)->losses, CT_LOSS_MAX * sizeof(losses[0]));
	ct_process_close(reader);
}

size_t recorded_walk(size_t index, void (*take)(const struct ct_block *block),
		     uint64_t losses[CT_LOSS_MAX])
{
	struct ct_run *run = open_run();
	size_t n = run ? run->n_processes : 0;

	if (index < n)
		walk_process(run, index, take, losses);
	if (run)
		ct_run_close(run);
	return n;
}

void recorded_free(struct recorded *r)
{
	free(r->seqs);
	r->seqs = NULL;
}

const char *recorded_dir(void)
{
	return run_dir;
}

const char *recorded_ring_dir(void)
{
	return ring_dir;
}

int recorded_rings_left(void)
{
	DIR *dir = opendir(ring_dir);
	int n = 0;

	for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
		n += strncmp(e->d_name, "commtrace.", 10) == 0;
	if (dir)
		closedir(dir);
	return n;
}

static void empty_dir(const char *path)
{
	DIR *dir = opendir(path);

	for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}

void recorded_remove(void)
{
	if (!scratch[0])
		return;
	empty_dir(run_dir);
	empty_dir(ring_dir);
	rmdir(scratch);
	scratch[0] = '\0';
}
