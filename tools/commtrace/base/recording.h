/* SPDX-License-Identifier: Apache-2.0 */
/* recording.h — the files of a recording in a directory, by their names. */
#ifndef CT_TOOLS_COMMTRACE_BASE_RECORDING_H
#define CT_TOOLS_COMMTRACE_BASE_RECORDING_H

enum ct_recording_kind {
	CT_RECORDING_NONE, /* some other file */
	CT_RECORDING_SEGMENT,
	CT_RECORDING_RING,	    /* copy of a ring whose process lived */
	CT_RECORDING_ARCHIVED_RING, /* ring of a dead process, compressed */
};

enum ct_recording_kind ct_recording_kind(const char *name);

/* For each recording file of a directory, in the order of the names; stops when `each` returns
 * nonzero and returns that. Returns -1 with errno if the directory cannot be read. */
int ct_recording_each(const char *dir,
		      int (*each)(const char *dir, const char *name, enum ct_recording_kind kind,
				  void *arg),
		      void *arg);

/* "DIR/NAME", to be freed; NULL when memory is out. */
char *ct_recording_path(const char *dir, const char *name);

/* Does the directory hold records, on disk or in rings of this host, of another job than `job`
 * (NULL: of any)? Then 1 and what was found in `what`; 0 if not, also for a directory that cannot
 * be read. */
int ct_recording_of_another(const char *dir, const char *const *ring_dirs, const char *job,
			    char what[512]);

#endif
