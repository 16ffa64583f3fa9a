/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/awaited.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/ring_search.h"
#include "trace/ring_dir.h"

/* tuning: after its last beat, of which there is one a second: a dead process does not wait. */
#define LIVES_NS 10000000000ull
#define AT_ONCE 32u /* size: of the stack, read at once */
/* size: entries of a ring, four times what the largest has; more is a damaged header. */
#define MOST_COMMS 4096u

struct awaited_search {
	const struct ct_ring *mine;
	uint64_t old_ns, now_ns, since_ns;
};

static int is_live(const struct ct_ring_comm *comm)
{
	uint64_t id = ct_load_relaxed(&comm->id);

	return id && id <= UINT32_MAX && !ct_load_relaxed(&comm->ended_ns) &&
	       ct_load_relaxed(&comm->ranks) >> 32 > 1;
}

/* It has not been entered for so long. */
static int is_silent(const struct ct_ring_comm *comm, uint64_t old_ns)
{
	uint64_t entered_ns = ct_load_relaxed(&comm->last_enter);

	return (entered_ns ? entered_ns : ct_load_relaxed(&comm->created_ns)) <= old_ns;
}

/* If every communicator was used recently, no peer can be waiting: most processes check no further.
 */
static int may_be_awaited(const struct ct_ring *mine, uint64_t old_ns)
{
	for (uint32_t i = 0; i < mine->header->n_comms; i++) {
		if (is_live(&mine->comms[i]) && is_silent(&mine->comms[i], old_ns))
			return 1;
	}
	return 0;
}

/* Is the same communicator behind here? */
static int is_behind(const struct ct_ring *mine, const struct ct_ring_comm *theirs)
{
	for (uint32_t i = 0; i < mine->header->n_comms; i++) {
		const struct ct_ring_comm *own = &mine->comms[i];

		if (is_live(own) && ct_load_relaxed(&own->key) == ct_load_relaxed(&theirs->key) &&
		    ct_load_relaxed(&own->ranks) >> 32 == ct_load_relaxed(&theirs->ranks) >> 32 &&
		    ct_load_relaxed(&own->next_seq) < ct_load_relaxed(&theirs->next_seq))
			return 1;
	}
	return 0;
}

static int is_of_this_run(const struct ct_ring_header *h, const struct awaited_search *s)
{
	const struct ct_process *own = &s->mine->header->process;

	return h->magic == CT_RING_MAGIC && ct_format_is_read(h->version) &&
	       h->process.hostkey == own->hostkey &&
	       memcmp(&h->process.run, &own->run, sizeof(own->run)) == 0 &&
	       ct_load_relaxed(&h->state) == CT_RING_LIVE &&
	       ct_load_relaxed(&h->beat_ns) + LIVES_NS > s->now_ns;
}

static void look_at_comms(struct awaited_search *s, int fd, const struct ct_ring_header *h)
{
	struct ct_ring_comm comms[AT_ONCE];

	for (uint32_t from = 0; from < h->n_comms && from < MOST_COMMS; from += AT_ONCE) {
		ssize_t n = pread(fd, comms, sizeof(comms),
				  (off_t)(h->comms_at + (uint64_t)from * sizeof(comms[0])));

		if (n < (ssize_t)sizeof(comms[0]))
			return;
		for (uint32_t i = 0; i < (size_t)n / sizeof(comms[0]) && from + i < h->n_comms;
		     i++) {
			uint64_t entered_ns = ct_load_relaxed(&comms[i].last_enter);

			if (is_live(&comms[i]) && entered_ns && entered_ns <= s->old_ns &&
			    entered_ns < s->since_ns && is_behind(s->mine, &comms[i]))
				s->since_ns = entered_ns;
		}
	}
}

/* One's own is not opened: to close it would give up the lock that says that its owner lives. */
static int look_at_ring(const char *path, void *arg)
{
	const struct ct_process *own;
	struct awaited_search *s = arg;
	struct ct_ring_header header;
	const char *name = strrchr(path, '/');
	uint32_t pidns, pid;
	struct statx sx;
	int fd;

	own = &s->mine->header->process;
	if (!name || ct_ring_name_parse(name + 1, &pidns, &pid) != CT_RING_NAME_OWN ||
	    (pid == own->pid && pidns == own->pidns))
		return 0;
	fd = ct_ring_file_open(path, O_RDONLY, geteuid(), &sx);
	if (fd < 0)
		return 0;
	if (pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
	    is_of_this_run(&header, s))
		look_at_comms(s, fd, &header);
	close(fd);
	return 0;
}

uint64_t ct_awaited_since(const struct ct_ring *mine, uint64_t after_ns, uint64_t now_ns)
{
	struct awaited_search s = { .mine = mine,
				    .old_ns = now_ns > after_ns ? now_ns - after_ns : 0,
				    .now_ns = now_ns,
				    .since_ns = UINT64_MAX };
	const char *const *dirs;
	int saved = errno;

	dirs = may_be_awaited(mine, s.old_ns) ? ct_ring_search_dirs() : NULL;
	if (dirs)
		ct_ring_dir_scan(dirs, look_at_ring, &s);
	errno = saved;
	return s.since_ns;
}
