/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/log.h"
#include "interpose/writer.h"
#include "trace/append.h"

int ct_output_init(struct ct_output *o, struct ct_ring *ring, const struct ct_process *process,
		   const struct ct_writer_options *options)
{
	struct stat st;

	memset(o, 0, sizeof(*o));
	o->options = options;
	o->segment_bytes = (uint64_t)options->settings->SEGMENT_BYTES;
	o->max_bytes = (uint64_t)options->settings->MAX_BYTES;
	ct_segment_init(&o->segment, process, options->dirfd);
	o->dir = process->run_dir;
	if (fstat(options->dirfd, &st) == 0) {
		o->dir_dev = st.st_dev;
		o->dir_ino = st.st_ino;
	}
	o->encoder = ct_encoder_new();
	ct_state_init(&o->state, ring, options->notes);
	return o->encoder ? CT_OK : CT_NOMEM;
}

/* Is the descriptor still the file that was opened? A program that closes every descriptor it does
 * not know, and then opens files of its own, would find our blocks in them. */
static int is_ours(struct ct_output *o)
{
	struct stat st;

	return fstat(o->segment.fd, &st) == 0 && st.st_dev == o->dev && st.st_ino == o->ino;
}

static int is_the_dir(const struct ct_output *o, int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && st.st_dev == o->dir_dev &&
	       st.st_ino == o->dir_ino;
}

/* The same for the run directory's descriptor; the directory can be reopened while it has its name.
 */
static int has_dir(struct ct_output *o)
{
	int fd;

	if (is_the_dir(o, o->segment.dirfd))
		return 1;
	fd = ct_fd_clear_of_stdio(open(o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (is_the_dir(o, fd)) {
		o->segment.dirfd = fd;
		return 1;
	}
	if (fd >= 0)
		close(fd);
	return 0;
}

/* It or the whole run was removed: what is written now can no longer be read. */
static int is_removed(struct ct_output *o)
{
	struct stat st;

	return fstat(o->segment.fd, &st) == 0 && st.st_nlink == 0;
}

static int next_segment(struct ct_output *o, struct ct_err *err)
{
	uint32_t n = o->segment.n_sizes + 1;
	struct stat st;
	int status;

	if (o->cap_records < n) {
		uint64_t *grown = realloc(o->records, 2 * n * sizeof(*grown));

		if (!grown)
			return ct_fail(err, CT_NOMEM, "out of memory");
		o->records = grown;
		o->cap_records = 2 * n;
	}
	if (o->segment.fd >= 0 && !is_ours(o))
		o->segment.fd = -1; /* not ours to close either */
	if (!has_dir(o))
		return ct_fail(err, CT_IO, "the run directory was closed");
	status = ct_segment_next(&o->segment, err);
	if (status != CT_OK)
		return status;
	if (fstat(o->segment.fd, &st) == 0) {
		o->dev = st.st_dev;
		o->ino = st.st_ino;
	}
	o->records[n - 1] = 0;
	o->fresh = 1;
	return CT_OK;
}

static int append(struct ct_output *o, struct ct_block *block, struct ct_err *err)
{
	const void *bytes;
	size_t len;
	int status;

	if (!o->encoder && !(o->encoder = ct_encoder_new()))
		return ct_fail(err, CT_NOMEM, "block %u: out of memory", o->blocks);
	block->number = o->blocks;
	status = ct_block_encode(o->encoder, block, &bytes, &len);
	if (status != CT_OK)
		return ct_fail(err, status, "block %u: %s", o->blocks, ct_status_text(status));
	status = ct_segment_append(&o->segment, bytes, len, err);
	if (status != CT_OK)
		return status;
	o->blocks++;
	o->state.cost.bytes_written += len;
	atomic_store_explicit(&o->state.ring->header->blocks, o->blocks, memory_order_relaxed);
	return CT_OK;
}

static void trim(struct ct_output *o)
{
	uint32_t before = o->segment.n_sizes;
	uint32_t n = o->segment.total > o->max_bytes ? ct_segment_trim(&o->segment, o->max_bytes)
						     : 0;
	uint64_t lost = 0;

	if (!n)
		return;
	for (uint32_t i = 0; i < n; i++)
		lost += o->records[i];
	memmove(o->records, o->records + n, (before - n) * sizeof(*o->records));
	ct_ring_lose((struct ct_ring *)(uintptr_t)o->state.ring, CT_LOSS_MAX_BYTES, lost);
}

static int write_checkpoint(struct ct_output *o, struct ct_err *err)
{
	int status;

	ct_block_reset(&o->checkpoint, CT_BLOCK_CHECKPOINT);
	status = ct_state_checkpoint(&o->state, &o->checkpoint);
	if (status == CT_OK)
		status = append(o, &o->checkpoint, err);
	if (status == CT_OK)
		o->fresh = 0;
	return status;
}

static int is_open(struct ct_output *o)
{
	return o->segment.fd >= 0 && is_ours(o) && !is_removed(o);
}

static int make_ready(struct ct_output *o, struct ct_err *err)
{
	int status = CT_OK;

	if (o->options->dirfd < 0)
		return ct_fail(err, CT_IO, "there is no run directory");
	if (!is_open(o) || o->segment.bytes >= o->segment_bytes)
		status = next_segment(o, err);
	return status == CT_OK && o->fresh ? write_checkpoint(o, err) : status;
}

static int failed(struct ct_output *o, int status, const struct ct_err *err)
{
	if (!o->failing) {
		ct_log("segments cannot be written: %s", err->text);
		ct_notes_add(&o->state.notes, "segments could not be written: %.100s", err->text);
	}
	o->failing = 1;
	return status;
}

int ct_output_ready(struct ct_output *o)
{
	struct ct_err err = { .status = CT_OK };
	int status = make_ready(o, &err);

	return status == CT_OK ? CT_OK : failed(o, status, &err);
}

int ct_output_block(struct ct_output *o, struct ct_block *block)
{
	struct ct_err err = { .status = CT_OK };
	int status;

	if (o->fresh || !is_open(o))
		status = ct_fail(&err, CT_IO, "the segment was closed or removed");
	else
		status = append(o, block, &err);
	if (status != CT_OK)
		return failed(o, status, &err);
	ct_state_written(&o->state, block);
	if (o->failing)
		ct_log("segments can be written again");
	o->failing = 0;
	trim(o);
	return CT_OK;
}

void ct_output_count(struct ct_output *o, uint32_t n)
{
	if (o->segment.n_sizes)
		o->records[o->segment.n_sizes - 1] += n;
	o->state.cost.calls += n;
}

void ct_output_rest(struct ct_output *o)
{
	ct_encoder_free(o->encoder);
	o->encoder = NULL;
	ct_block_fini(&o->checkpoint);
}

void ct_output_close(struct ct_output *o)
{
	if (o->segment.fd >= 0 && !is_ours(o))
		o->segment.fd = -1;
	ct_segment_close(&o->segment);
	ct_encoder_free(o->encoder);
	ct_state_fini(&o->state);
	ct_block_fini(&o->checkpoint);
	free(o->records);
	memset(o, 0, sizeof(*o));
	o->segment.fd = -1;
}
