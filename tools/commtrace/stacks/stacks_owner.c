/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/stacks/stacks_owner.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/commtrace/base/this_host.h"
#include "tools/commtrace/stacks/pid_here.h"
#include "trace/path.h"
#include "trace/ring_dir.h"
#include "trace/ring_read.h"

int ct_owners_add(struct ct_owners *owners, const char *dir, struct ct_run *run, struct ct_err *err)
{
	struct ct_owner_run *owner = &owners->runs[owners->n];
	int st;

	if (owners->n == CT_OWNER_RUNS) {
		ct_run_close(run);
		return CT_NOMEM;
	}
	*owner = (struct ct_owner_run){ .run = run, .memory = ct_arena_new() };
	st = owner->memory ? ct_hang_of_run(run, NULL, owner->memory, &owner->hang, err) : CT_NOMEM;
	if (st == CT_OK) {
		owner->dir = ct_arena_text(owner->memory, dir, strlen(dir));
		owners->n++;
	} else {
		ct_arena_free(owner->memory);
		ct_run_close(run);
	}
	return st;
}

static struct ct_owner_of find(const struct ct_owners *owners, uint32_t pid, int lives)
{
	struct ct_owner_of found = { NULL, NULL };

	for (size_t r = 0; r < owners->n; r++) {
		const struct ct_run *run = owners->runs[r].run;

		for (size_t i = 0; i < run->n_processes; i++) {
			const struct ct_process_info *p = &run->processes[i];

			if ((lives ? ct_pid_here(&p->id) : p->id.pid) != pid ||
			    (found.process &&
			     found.process->id.start_unix_ns > p->id.start_unix_ns))
				continue;
			found = (struct ct_owner_of){ &owners->runs[r], p };
		}
	}
	return found;
}

struct ring_wanted {
	uint32_t pid, pidns;
	char dir[sizeof(((struct ct_process *)0)->run_dir)];
	char ring[256];
};

static int is_wanted(const char *path, void *arg)
{
	struct ring_wanted *wanted = arg;
	struct ct_ring_header header;
	uint32_t pidns, pid;
	int lives;

	if (ct_ring_name_parse(ct_path_name(path), &pidns, &pid) != CT_RING_NAME_OWN ||
	    pid != wanted->pid || pidns != wanted->pidns ||
	    ct_ring_header_read(path, &header, &lives, NULL) != CT_OK || !lives)
		return 0;
	ct_process_terminate(&header.process);
	snprintf(wanted->dir, sizeof(wanted->dir), "%s", header.process.run_dir);
	snprintf(wanted->ring, sizeof(wanted->ring), "%s", path);
	return 1;
}

/* The run that its ring names, or the ring alone where that directory is gone. */
static void open_its_run(struct ct_owners *owners, uint32_t pid)
{
	struct ring_wanted wanted;
	const char *dirs[4], *path;
	struct ct_run_options options = { .ring_dirs = dirs };
	struct ct_run *run = NULL;
	struct ct_err err;
	struct stat st;
	char proc[32];

	snprintf(proc, sizeof(proc), "/proc/%u", pid);
	if (stat(proc, &st) != 0 || ct_pid_inside(pid, &wanted.pid, &wanted.pidns) != 0)
		return;
	ct_host_ring_dirs(NULL, dirs);
	if (ct_ring_dir_scan_of(dirs, st.st_uid, is_wanted, &wanted) != 1)
		return;
	path = wanted.dir;
	if (ct_run_open(&path, 1, &options, &run, &err) != CT_OK) {
		path = wanted.ring;
		if (ct_run_open(&path, 1, &options, &run, &err) != CT_OK)
			return;
	}
	(void)ct_owners_add(owners, path, run, &err);
}

struct ct_owner_of ct_owners_find(struct ct_owners *owners, uint32_t pid, int lives)
{
	struct ct_owner_of found = find(owners, pid, lives);

	if (found.run || !lives || !pid)
		return found;
	open_its_run(owners, pid);
	return find(owners, pid, lives);
}

void ct_owners_fini(struct ct_owners *owners)
{
	while (owners->n) {
		struct ct_owner_run *owner = &owners->runs[--owners->n];

		ct_arena_free(owner->memory);
		ct_run_close(owner->run);
	}
}
