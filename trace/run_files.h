/* SPDX-License-Identifier: Apache-2.0 */
/* run_files.h — which files make up a run, process by process: what reader.c hands to
 * process_reader.c.
 *
 * Private to the reading half. Filled by the thread that opens the run, constant afterwards.
 */
#ifndef CT_TRACE_RUN_FILES_H
#define CT_TRACE_RUN_FILES_H

#include <stddef.h>
#include <sys/types.h>

#include "trace/reader.h"

struct ct_segment_file {
	char *path;
	dev_t dev;
	ino_t ino;
	uint64_t bytes;
	uint32_t number;
	uint32_t flags; /* enum ct_segment_flags */
};

struct ct_process_files {
	struct ct_process id;
	struct ct_segment_file *segments; /* by number */
	size_t n_segments, cap_segments;
	char *dir; /* where its next segment would appear */
	enum ct_ring_found found;
	char *ring_path;
	struct ct_ring_header *ring; /* as it was when the run was opened; NULL: none found */
	int ring_lives;
	_Atomic uint64_t read_bytes; /* ct_process_read_bytes(); the only one that changes after the
					run was opened */
};

struct ct_run_dir {
	char *path;
	dev_t dev;
	ino_t ino;
	struct ct_run_id id;
	uid_t uid;
	int whole; /* opened as a directory; 0: only holds a file that was named */
};

struct ct_run_files {
	struct ct_process_files *processes;
	size_t n_processes, cap_processes;
	uint32_t *index; /* open addressing by identity: index in processes + 1 */
	size_t n_index;
	struct ct_run_dir *dirs;
	size_t n_dirs, cap_dirs;
	char **warnings;
	size_t n_warnings, cap_warnings, unsaid;
	struct ct_unborn_file {
		char *path;
		char *why;
	} * unborn; /* segments without a whole header: being made, or left by a process that
		       died making them */
	size_t n_unborn, cap_unborn;
	struct ct_skipped_file *skipped;
	size_t n_skipped, cap_skipped;
	struct ct_err first_err; /* of the first path or file that could not be read */
};

/* Add a directory or file that a person named. What cannot be read becomes a warning. 0 or
 * CT_NOMEM. */
int ct_run_files_add(struct ct_run_files *files, const char *path);

/* Add the rings of this host that belong to the directories, or to processes known already. 0 or
 * CT_NOMEM. */
int ct_run_files_add_rings(struct ct_run_files *files, const char *const *ring_dirs);

/* ---- what the functions above are made of ---- */

enum ct_run_file_kind { CT_RUN_OTHER, CT_RUN_SEGMENT, CT_RUN_RING };

/* What a file says that it is, by its name. */
enum ct_run_file_kind ct_run_file_kind(const char *name);

/* Add one file; `named`: by a person, so that it must be ours. 0 or CT_NOMEM. */
int ct_run_files_add_file(struct ct_run_files *files, const char *path, int named);

/* Adds a ring to its process. A ring at its original path takes precedence over an archived copy.
 * 0 or CT_NOMEM. */
int ct_run_files_add_ring(struct ct_run_files *files, const char *path,
			  const struct ct_ring_header *header, int lives, enum ct_ring_found found);

/* The entry of this process, NULL if there is none. Until ct_run_files_finish(). */
struct ct_process_files *ct_run_files_find(const struct ct_run_files *files,
					   const struct ct_process *id);

/* Make space for one more element in *array of n; 0 or CT_NOMEM. */
int ct_run_grow(void *array, size_t n, size_t *cap, size_t size);

/* ---- */

/* Everything is found: sort, and warn about what does not belong together. 0 or CT_NOMEM. */
int ct_run_files_finish(struct ct_run_files *files);

void ct_run_files_free(struct ct_run_files *files);

/* Keep a sentence for the person. 0 or CT_NOMEM. */
int ct_run_files_warn(struct ct_run_files *files, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* How a process ended and when it was last seen alive, from the last block of its segments and from
 * its ring. `replaced_ns`: when a later program started recording in the same process, 0 if none
 * did. `look_here` nonzero: also from the processes of this host. 0 or CT_NOMEM. */
int ct_run_process_end(const struct ct_process_files *process, uint64_t replaced_ns, int look_here,
		       struct ct_process_info *info);

#endif
