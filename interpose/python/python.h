/* SPDX-License-Identifier: Apache-2.0 */
/* python.h — the Python frames of a process's threads, by reading memory alone: of this one in the
 * job, of another one or of a core in tools/stacks.
 *
 * No function of Python is called that takes a lock, needs the GIL, or allocates. Offsets are known
 * for CPython 3.8 to 3.12 from a table (layouts.def); later versions publish them. What is read may
 * change or go away meanwhile, so all reading is done by a function of the caller's, which fails
 * where there is no memory; everything read is bounded and checked, and what does not look like it
 * should ends the walk. A thread may walk its own frames with plain loads.
 *
 * ct_python_find() takes the loader's lock and belongs to the start of recording. Everything else
 * is stateless and any thread's. Nothing survives the process.
 */
#ifndef CT_INTERPOSE_PYTHON_PYTHON_H
#define CT_INTERPOSE_PYTHON_PYTHON_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/python/layout.h"

/* Copies `len` bytes at `from` to `to`: 0, or -1 if not all of them can be read. Keeps errno. */
typedef int (*ct_python_read)(uintptr_t from, void *to, size_t len);

/* By the kernel, which does not fault: the one for other threads' memory. */
int ct_python_read_safely(uintptr_t from, void *to, size_t len);

/* The interpreter of this process. */
struct ct_python {
	uintptr_t runtime;		/* _PyRuntime */
	uint32_t version;		/* as PY_VERSION_HEX: 0x030b02f0 is 3.11.2 */
	int free_threaded;		/* a build without the GIL */
	uintptr_t code_type, text_type; /* PyCode_Type, PyUnicode_Type: what objects must have as
					   type; 0 not known */
	uint32_t tid_at; /* of the kernel's thread id behind a pthread_t, 0 not known; where Python
			    does not keep it */
	struct ct_python_layout at;
	void *(*own_state)(
		void); /* PyGILState_GetThisThreadState: one load from thread-specific data */
	int (*is_finalizing)(void);
};

/* 0, or -1: none, or an unknown version (then `version` says so). */
int ct_python_find(struct ct_python *py);

/* Fill version and offsets of the interpreter at py->runtime: as it publishes them, else those of
 * `version`. 0, or -1: an unknown version. Of any process that `read` reads. */
int ct_python_lay_out(struct ct_python *py, ct_python_read read, uint32_t version);

/* The one that ct_python_here_init() found when recording started, for as long as the process
 * lives; NULL: none. */
void ct_python_here_init(void);
const struct ct_python *ct_python_here(void);

struct ct_python_thread {
	uintptr_t state;   /* PyThreadState */
	uint32_t tid;	   /* the kernel's, 0 not known */
	uintptr_t pthread; /* its pthread_t, 0 not known */
};

/* The threads that the interpreters know, at most `room`; how many. Those that come or go meanwhile
 * may be missing. */
uint32_t ct_python_threads(const struct ct_python *py, ct_python_read read,
			   struct ct_python_thread *threads, uint32_t room);

struct ct_python_frame {
	char file[256]; /* UTF-8, ends in NUL; longer ones lose their beginning and start with "..."
			 */
	char func[128]; /* qualified from 3.11 on; longer ones lose their end */
	uint32_t line;	/* of the instruction that is under way, 0 not known */
};

/* Frames from the innermost on. `frame` 0: there is none (any more). */
struct ct_python_cursor {
	uintptr_t frame;
	uint32_t steps; /* so far, frames of C included; ends at CT_PYTHON_STEPS */
};
/* size: frames, those of C included; of a longer chain the outermost are left out. */
#define CT_PYTHON_STEPS 512u

#define CT_PYTHON_TAGS 7u /* fact: lowest bits of a reference that are not part of the address */
#define CT_PYTHON_OWNER_INTERPRETER 3 /* fact: from this owner on, frames are not Python code */

void ct_python_first(const struct ct_python *py, ct_python_read read, uintptr_t state,
		     struct ct_python_cursor *cursor);

/* The frame at the cursor, which moves to its caller. 1; 0: there was none; -1: it cannot be read. */
int ct_python_next(const struct ct_python *py, ct_python_read read, struct ct_python_cursor *cursor,
		   struct ct_python_frame *frame);

#endif
