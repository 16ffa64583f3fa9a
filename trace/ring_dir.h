/* SPDX-License-Identifier: Apache-2.0 */
/* ring_dir.h — the ring files in a ring directory: which owners live, notes about deaths, and
 * moving the rings of dead processes into their runs. Called by starting processes, by parents of
 * traced processes and by `commtrace`; may do I/O, never on a call path.
 *
 * The note functions and the scan allocate nothing and take no lock: kill() and waitpid() are
 * called from signal handlers. A process never opens its own live ring here: closing any descriptor
 * of a file drops all POSIX locks that the process has on it, and with them the sign that the owner
 * lives.
 */
#ifndef CT_TRACE_RING_DIR_H
#define CT_TRACE_RING_DIR_H

#include <sys/types.h>

#include "trace/ring.h"
#include "trace/status.h"

struct statx;

/* Directories in which a ring may be, in the order for ct_ring_create(): `ring_dir`
 * (COMMTRACE_RING_DIR or the default), $TMPDIR, /tmp. `dirs` gets at most 4 entries, the last one
 * NULL; strings are borrowed. */
void ct_ring_dirs(const char *ring_dir, const char *tmpdir, const char *dirs[4]);

/* Inode of the pid namespace of this process, 0 unknown. */
uint32_t ct_pidns_self(void);

enum ct_ring_name_kind {
	CT_RING_NAME_NONE = 0,
	CT_RING_NAME_OWN = 1,	/* commtrace.NS.PID.ring */
	CT_RING_NAME_ASIDE = 2, /* commtrace.NS.PID.ring.TIME.ring: a newer ring has taken its name */
};

/* Is this the file name of a ring in a ring directory, and whose? */
enum ct_ring_name_kind ct_ring_name_parse(const char *name, uint32_t *pidns, uint32_t *pid);

/* Open a ring file if it is a regular file of `uid` with space for a header; never waits, follows
 * no link. `flags`: O_RDONLY or O_RDWR. The descriptor, or -1 with errno. */
int ct_ring_file_open(const char *path, int flags, uid_t uid, struct statx *sx);

/* How far the process that owns a ring has got. */
enum ct_owner {
	CT_OWNER_LIVES,
	CT_OWNER_AWAITED, /* dead; the parent that started it has yet to wait for it, and may note
			     in the ring how it ended */
	CT_OWNER_DEAD,
};

/* Same pid namespace: pid and start time decide, a zombie is dead. Other namespaces (containers
 * that share /dev/shm): the lock, or a beat within 10 s. Another boot of this host: dead; of
 * another host (shared file system): the lock, or a file changed within a day. What cannot be found
 * out counts as alive. `fd` is the ring file's. */
enum ct_owner ct_ring_owner(const struct ct_ring_header *header, int fd);

/* Is it CT_OWNER_LIVES? 1 or 0. */
int ct_ring_owner_lives(const struct ct_ring_header *header, int fd);

/* The same question without a ring: is there a process of this pid and start time in our pid
 * namespace, on this boot? 1 or 0; 0 also when it is not ours to see. */
int ct_process_lives(const struct ct_process *process);

/* And is it stopped, by a signal (SIGSTOP, SIGTSTP) or a debugger? 1 or 0; 0 also when it is not
 * ours to see. */
int ct_process_is_stopped(const struct ct_process *process);

/* Start time of a process of our pid namespace (/proc/PID/stat field 22), zombies included; 0 if
 * there is none. */
uint64_t ct_pid_start_ticks(pid_t pid);

/* Parent of a process of our pid namespace; 0 if there is none, or none that can be seen. */
pid_t ct_pid_parent(pid_t pid);

/* Does `id` come from this boot of this machine? 1 yes (also if unknown), 0 no. */
int ct_process_same_boot(const struct ct_process *id);

/* Write into a child's ring how it ended, by waitpid. `status` as waitpid gives it; stops and
 * continuations are not noted. Keeps the first note. Returns 1 if there was a ring of this pid.
 * errno is kept. */
int ct_ring_note_death(const char *const *dirs, pid_t pid, int status, uint64_t now_ns);

/* Notes in the ring(s) of `pid` (as for kill(2): negative = process group, -1 and 0 are ignored)
 * that kill was called. Only signals that are meant to end a process are noted (not 0, stop,
 * continue, user and real-time signals); the caller's own ring is not. errno is kept. */
void ct_ring_note_kill(const char *const *dirs, pid_t pid, int sig, uint64_t now_ns);

/* For each ring file of this user in the directories. Stops when `each` returns nonzero, returns
 * that. */
int ct_ring_dir_scan(const char *const *dirs, int (*each)(const char *path, void *arg), void *arg);

/* The same for the files of another user. */
int ct_ring_dir_scan_of(const char *const *dirs, uid_t uid,
			int (*each)(const char *path, void *arg), void *arg);

/* Move the rings of dead processes of this user into their run directories, compressed as "<segment
 * name without number>.ring.zst"; removes those whose every record is in segments and whose process
 * exited cleanly. It also removes, oldest first, those whose run directory has been missing for a
 * day or which together use more than a quarter of the ring directory (at most 64 MB). `only`: one
 * run, whose directory the caller knows: none is removed because it is missing. NULL: all runs.
 * Rings that cannot be written stay. May wait for file systems and allocates: a thread of its own,
 * or the write thread. errno is kept. */
struct ct_collected {
	uint32_t moved, removed, kept;
	uint64_t bytes; /* of ring files taken away */
	char why_kept[160];
};
void ct_ring_dir_collect(const char *const *dirs, const struct ct_run_id *only,
			 struct ct_collected *collected);

#endif
