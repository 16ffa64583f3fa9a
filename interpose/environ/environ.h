/* SPDX-License-Identifier: Apache-2.0 */
/* environ.h — the start record: under what conditions this process communicates, and what of it
 * passes unseen.
 *
 * Facts are "key=value" texts (docs/dev/TRACE_FORMAT.md, ENV); each source fills a list of its own:
 *     ct_environ_read()    the thread that starts the recording: the allowed part of the
 * environment ct_environ_mpi()     the thread that gets to know MPI: what MPI says of itself
 *     ct_environ_gpus()    the poll thread, once per CUDA context: what the driver says about its
 * GPU the look-around      a short-lived thread of our own, for what may block: files of /sys and
 * /proc (a driver that hangs hangs its files), the list of loaded objects, the loader's lock The
 * first look-around begins with the recording; later ones are started by the write thread
 * (ct_environ_serve), which never waits for one but a moment at the end, and copies whatever is in
 * the lists into blocks. If it never comes back, what it found until then is on record, and so is
 * at what it stopped. No thread is started when the program ends, or has ended MPI: others that
 * listen to threads being made may be gone by then. What was loaded since is then reported by the
 * write thread itself.
 */
#ifndef CT_INTERPOSE_ENVIRON_ENVIRON_H
#define CT_INTERPOSE_ENVIRON_ENVIRON_H

#include "interpose/guard.h"
#include "trace/block.h"
#include "trace/facts.h"

/* Forget everything, also what a parent process knew, and read the environment. Before there are
 * threads. */
void ct_environ_read(char *const *env);

/* A fact of the start. Before there are threads. */
void ct_environ_report(const char *key, const char *value);

/* The list for the facts about GPUs ("gpu.N.key"); only the poll thread adds to it. */
struct ct_facts *ct_environ_gpus(void);

/* Which MPI this is: its flavour as it is called (NULL: unknown, which is reported as not
 * traceable), the first line of what MPI_Get_library_version says, and a function of it. Called by
 * the one thread that identifies the library; waits for nothing. */
void ct_environ_mpi(const char *flavour, const char *version, const void *function);

/* From now on no thread is started. Any thread; until the next ct_environ_read(). */
void ct_environ_unshared(void);

/* Called by the thread that starts the recording, before there is a write thread; then by the write
 * thread regularly. */
void ct_environ_serve(uint64_t now_ns);

/* Whether a look-around is under way. 0 is an acquire: all that the last one wrote is seen, it
 * reads nothing more. */
int ct_environ_is_looking(void);

/* Recording ends: give a look-around that is under way up to `timeout_ns`, and look at what was
 * loaded since for as long as is left of it. Starts no thread. The write thread. */
void ct_environ_finish(uint64_t timeout_ns);

/* A fact about what the tracer itself could not find out. The write thread. */
void ct_environ_watch(const char *key, const char *value);

/* How far the facts of each list are in segments. */
#define CT_ENVIRON_LISTS 7u /* code: as many as environ.c names */
struct ct_environ_seen {
	uint32_t at[CT_ENVIRON_LISTS];
};

/* Add what is new since `seen` to a block; with `all`, everything. The write thread. 0 or CT_NOMEM.
 */
int ct_environ_add(struct ct_environ_seen *seen, struct ct_block *block, int all);

/* This directory is used as the root of the file system; "" except in tests. */
extern const char *ct_environ_root;

/* size: a look-around, or a sample of counters, takes milliseconds. After so long it is reported. */
#define CT_ENVIRON_STUCK_NS (5 * CT_SECOND_NS)

#endif
