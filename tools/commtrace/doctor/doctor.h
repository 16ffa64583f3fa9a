/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h — `commtrace doctor`: what of a program would be recorded, and what not. Each doctor_*.c
 * looks at one thing and adds what it found; cmd_doctor.c shows it. Nothing is changed, and the
 * program itself is started only on demand. Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_DOCTOR_DOCTOR_H
#define CT_TOOLS_COMMTRACE_DOCTOR_DOCTOR_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#include "tools/commtrace/run/run_env.h"

/* A problem of its kind. */
enum ct_doctor_id {
#define CHECK(ID, remedy) CT_DOCTOR_##ID,
#include "tools/commtrace/doctor/doctor_checks.def"
#define X(ID, what, why, remedy) CT_DOCTOR_##ID,
#include "trace/invisible.def"
#undef X
	CT_DOCTOR_IDS
};

enum ct_doctor_answer {
	CT_DOCTOR_FINE,
	CT_DOCTOR_UNKNOWN, /* unknown here */
	CT_DOCTOR_PART,	   /* something would pass unseen, or might */
	CT_DOCTOR_NOTHING, /* nothing would be recorded */
};

struct ct_doctor_check {
	enum ct_doctor_id id;
	enum ct_doctor_answer answer;
	char what[640];
};

struct ct_doctor {
	struct ct_doctor_check *checks;
	size_t n_checks;
	int failed;		      /* memory is out */
	const struct ct_run_env *env; /* what the program would be started with */
	const char *library;	      /* "" if it was not found */
	int is_preloaded;	      /* LD_PRELOAD of the environment names the library already */
	int is_python;		      /* it may load anything later */
};

/* Appends; bytes that are not text become '?' (ct_text_clean). */
void ct_doctor_add(struct ct_doctor *d, enum ct_doctor_id id, enum ct_doctor_answer answer,
		   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

const char *ct_doctor_name(enum ct_doctor_id id);
const char *ct_doctor_remedy(enum ct_doctor_id id);

/* The check of a row of invisible.def, by its number there (enum ct_invisible). */
enum ct_doctor_id ct_doctor_of(int invisible);

/* A row of invisible.def was found in `where`. */
void ct_doctor_add_invisible(struct ct_doctor *d, enum ct_doctor_id id,
			     enum ct_doctor_answer answer, const char *where);

/* All that does not depend on a program. `library`: where d->library points to, filled with its
 * path. */
void ct_doctor_machine(struct ct_doctor *d, char library[PATH_MAX]);

/* The library itself, and LD_PRELOAD. */
void ct_doctor_library(struct ct_doctor *d);
void ct_doctor_preload(struct ct_doctor *d);

/* COMMTRACE_* variables, directories, limits. */
void ct_doctor_settings(struct ct_doctor *d);
void ct_doctor_paths(struct ct_doctor *d);
void ct_doctor_limits(struct ct_doctor *d);

/* The program, what it needs, and what its Python would find. */
void ct_doctor_program(struct ct_doctor *d, char **argv);
void ct_doctor_python(struct ct_doctor *d, const char *python);

/* What the loader would load for this library, in a process of the Python `exe`. */
void ct_doctor_needed(struct ct_doctor *d, const char *exe, const char *library);

/* What an object is to the program. */
enum ct_doctor_role {
	CT_DOCTOR_THE_PROGRAM,
	CT_DOCTOR_LOADED,
	CT_DOCTOR_PRELOADED, /* its NCCL functions are wrappers */
	CT_DOCTOR_INSTALLED, /* it is there, and may be used or not */
};

/* Whether this file communicates, and signs that something in it cannot be traced. Files seen
 * before are skipped. Returns whether it calls a backend's library of which none was found yet. */
int ct_doctor_object(struct ct_doctor *d, const char *path, enum ct_doctor_role role);

/* After the last object: what all of them together say. */
void ct_doctor_objects_done(struct ct_doctor *d);

/* Runs the program, records it into a temporary directory, and reports what was recorded. */
void ct_doctor_run(struct ct_doctor *d, char **argv);

#endif
