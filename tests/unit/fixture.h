/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h — runs made by hand for the tests of the reading half: a temporary directory, processes,
 * their segments and rings. Everything fails the test that calls it; the main thread only. */
#ifndef CT_TESTS_UNIT_FIXTURE_H
#define CT_TESTS_UNIT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/block.h"
#include "trace/ring.h"
#include "trace/segment.h"

/* cmocka setup and teardown: a directory of its own for each test. */
int fx_setup(void **state);
int fx_teardown(void **state);

/* Path of `name` in the test's directory ("" for itself); good until the fourth next call. */
const char *fx_path(const char *name);
void fx_mkdir(const char *name);
void fx_write(const char *name, const void *data, size_t bytes);
/* A file of this text, with the directories above it. */
void fx_put(const char *name, const char *text);
void *fx_read(const char *name, size_t *bytes); /* to be freed */
int fx_exists(const char *name);
/* The only name in directory `name` that ends in `end`; fails if there are none or two. */
const char *fx_only(const char *name, const char *end);

/* A process that is not there (any more): the identity of `rank` in the run directory `run`, NULL
 * for none. */
struct ct_process fx_process(int rank, const char *run);
/* Make it the process `pid` of this machine. */
void fx_become(struct ct_process *process, int pid);
/* An unused pid. */
int fx_dead_pid(void);
/* Fork a child that waits to be killed. */
int fx_child(void);

/* Op number `n` of a process: everything about it follows from n. */
struct ct_op fx_op(uint64_t n);
void fx_assert_op(const struct ct_op *op, uint64_t n);

/* ---- segments ---- */

struct fx_writer {
	struct ct_segment_writer segment;
	struct ct_encoder *encoder;
	struct ct_block block;
	uint32_t number; /* of the next block */
	int dirfd;
};

void fx_open(struct fx_writer *w, const struct ct_process *process, const char *run);
void fx_next_segment(struct fx_writer *w);
/* Start a block; fill w->block; write it. */
void fx_begin(struct fx_writer *w, enum ct_block_type type);
void fx_commit(struct fx_writer *w);
/* A whole block of ops [n, n + count), said to come from slots [first, first + count) of `lap`. */
void fx_ops(struct fx_writer *w, uint64_t lap, uint32_t first, uint64_t n, uint32_t count);
/* An END block. */
void fx_end(struct fx_writer *w, enum ct_exit_kind kind, uint32_t code);
void fx_close(struct fx_writer *w);

/* ---- rings ---- */

struct fx_ring {
	struct ct_ring ring;
	struct ct_lane lane;
};

/* A ring in directory `name`; the lock is the test's own. */
void fx_ring_open(struct fx_ring *r, struct ct_process *process, const char *name);
/* Publish op `n`; `returned` 0: still inside its call. */
void fx_ring_op(struct fx_ring *r, uint64_t n, int returned);
/* Its process is gone; the file stays. */
void fx_ring_leave(struct fx_ring *r);

#endif
