/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/ops.h"
#include "trace/ring_dir.h"
#include "trace/run_id.h"

static char root[64];
static int children[16];
static int n_children;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int fx_setup(void **state)
{
	(void)state;
	strcpy(root, "/tmp/ct-test-XXXXXX");
	return mkdtemp(root) == NULL;
}

int fx_teardown(void **state)
{
	(void)state;
	for (; n_children; n_children--) {
		kill(children[n_children - 1], SIGKILL);
		waitpid(children[n_children - 1], NULL, 0);
	}
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *fx_path(const char *name)
{
	static char paths[4][512];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s%s%s", root, *name ? "/" : "", name);
	return path;
}

void fx_mkdir(const char *name)
{
	assert_int_equal(mkdir(fx_path(name), 0700), 0);
}

void fx_write(const char *name, const void *data, size_t bytes)
{
	FILE *f = fopen(fx_path(name), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
}

void fx_put(const char *name, const char *text)
{
	char path[256];

	/* its directories first */
	for (const char *at = strchr(name, '/'); at; at = strchr(at + 1, '/')) {
		snprintf(path, sizeof(path), "%.*s", (int)(at - name), name);
		if (access(fx_path(path), F_OK) != 0)
			fx_mkdir(path);
	}
	fx_write(name, text, strlen(text));
}

void *fx_read(const char *name, size_t *bytes)
{
	FILE *f = fopen(fx_path(name), "rb");
	char *data;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*bytes = (size_t)ftell(f);
	rewind(f);
	data = malloc(*bytes + 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, *bytes, f), *bytes);
	fclose(f);
	return data;
}

int fx_exists(const char *name)
{
	struct stat st;

	return lstat(fx_path(name), &st) == 0;
}

const char *fx_only(const char *name, const char *end)
{
	static char found[512];
	DIR *d = opendir(fx_path(name));
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (len < strlen(end) || strcmp(e->d_name + len - strlen(end), end) != 0)
			continue;
		snprintf(found, sizeof(found), "%s/%s", name, e->d_name);
		n++;
	}
	closedir(d);
	assert_int_equal(n, 1);
	return found;
}

/* ---- processes ---- */

static void read_boot_id(char to[40])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");

	memset(to, 0, 40);
	if (f) {
		if (fread(to, 1, 36, f) != 36)
			to[0] = '\0';
		fclose(f);
	}
}

struct ct_process fx_process(int rank, const char *run)
{
	struct ct_process p = {
		.hostkey = 0xabcdef,
		.start_ns = 1000000,
		.start_unix_ns = 1700000000000000000ull,
		.start_ticks = 77,
		.hang_after_ns = 30000000000ull,
		.pid = (uint32_t)(4000000 +
				  rank), /* above any pid_max of a kernel with default settings */
		.ppid = 1,
		.uid = (uint32_t)geteuid(),
		.pidns = ct_pidns_self(),
		.rank = rank,
		.world_size = 4,
		.local_rank = rank,
		.host = "n0",
		.job = "job-1",
		.version = "0.1.0",
		.exe = "/usr/bin/python3",
	};

	read_boot_id(p.boot_id);
	if (run) {
		snprintf(p.run_dir, sizeof(p.run_dir), "%s", fx_path(run));
		ct_run_id_get(AT_FDCWD, p.run_dir, &p.run);
	}
	return p;
}

void fx_become(struct ct_process *p, int pid)
{
	p->pid = (uint32_t)pid;
	p->ppid = (uint32_t)(pid == getpid() ? getppid() : getpid());
	p->start_ticks = ct_pid_start_ticks(pid);
}

int fx_dead_pid(void)
{
	int pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

int fx_child(void)
{
	int pid = fork();

	assert_true(pid >= 0 && n_children < 16);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	children[n_children++] = pid;
	return pid;
}

/* ---- records ---- */

struct ct_op fx_op(uint64_t n)
{
	return (struct ct_op){
		.enter_ns = 32 * (100000 + 1000 * n), /* whole quanta: comes back as it is */
		.return_ns = 32 * (100000 + 1000 * n + 40 + n % 7),
		.count = 1024 + n % 3,
		.seq = n,
		.comm = 1,
		.peer = -1,
		.tid = 4711,
		.call = 1,
		.op = CT_OP_AllReduce,
		.dtype = CT_DTYPE_float32,
		.redop = CT_REDOP_sum,
	};
}

void fx_assert_op(const struct ct_op *op, uint64_t n)
{
	struct ct_op want = fx_op(n);

	want.tid = op->tid;
	assert_memory_equal(op, &want, sizeof(want));
}

/* ---- segments ---- */

void fx_open(struct fx_writer *w, const struct ct_process *process, const char *run)
{
	memset(w, 0, sizeof(*w));
	w->dirfd = open(fx_path(run), O_RDONLY | O_DIRECTORY);
	assert_true(w->dirfd >= 0);
	w->encoder = ct_encoder_new();
	assert_non_null(w->encoder);
	ct_segment_init(&w->segment, process, w->dirfd);
}

void fx_next_segment(struct fx_writer *w)
{
	assert_int_equal(ct_segment_next(&w->segment, NULL), CT_OK);
}

void fx_begin(struct fx_writer *w, enum ct_block_type type)
{
	ct_block_reset(&w->block, type);
}

void fx_commit(struct fx_writer *w)
{
	const void *bytes;
	size_t n;

	w->block.number = w->number++;
	assert_int_equal(ct_block_encode(w->encoder, &w->block, &bytes, &n), CT_OK);
	assert_int_equal(ct_segment_append(&w->segment, bytes, n, NULL), CT_OK);
}

void fx_ops(struct fx_writer *w, uint64_t lap, uint32_t first, uint64_t n, uint32_t count)
{
	struct ct_extent extent = {
		.lap = lap,
		.tid = 4711,
		.first = first,
		.n_slots = count,
		.n_ops = count,
	};

	fx_begin(w, CT_BLOCK_DATA);
	assert_int_equal(ct_block_add_extent(&w->block, &extent), CT_OK);
	for (uint32_t i = 0; i < count; i++) {
		struct ct_op op = fx_op(n + i);

		assert_int_equal(ct_block_add_op(&w->block, &op), CT_OK);
	}
	fx_commit(w);
}

void fx_end(struct fx_writer *w, enum ct_exit_kind kind, uint32_t code)
{
	struct ct_end_rec end = { .end_ns = 900000000, .kind = kind, .code = code };

	fx_begin(w, CT_BLOCK_END);
	assert_int_equal(ct_block_add_rare(&w->block, CT_KIND_END, &end, sizeof(end)), CT_OK);
	fx_commit(w);
}

void fx_close(struct fx_writer *w)
{
	ct_segment_close(&w->segment);
	ct_encoder_free(w->encoder);
	ct_block_fini(&w->block);
	close(w->dirfd);
}

/* ---- rings ---- */

void fx_ring_open(struct fx_ring *r, struct ct_process *process, const char *name)
{
	const char *dirs[] = { fx_path(name), NULL };

	memset(r, 0, sizeof(*r));
	assert_int_equal(ct_ring_create(&r->ring, process, dirs, CT_RING_MIN_BYTES, NULL), CT_OK);
	assert_true(r->ring.path[0]);
}

void fx_ring_op(struct fx_ring *r, uint64_t n, int returned)
{
	struct ct_slot *slot = ct_lane_next(&r->ring, &r->lane);
	struct ct_op op = fx_op(n);
	uint64_t w[8];

	assert_non_null(slot);
	ct_op_pack(&op, w);
	w[CT_OP_W_END] = returned ? ct_op_end_word(op.enter_ns, op.return_ns, op.result) : 0;
	ct_slot_publish(slot, CT_TAG(r->lane.lap, CT_KIND_OP, op.call), w);
}

void fx_ring_leave(struct fx_ring *r)
{
	ct_ring_close(&r->ring, 0);
}
