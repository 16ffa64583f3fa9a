/* SPDX-License-Identifier: Apache-2.0 */
/* target.h — a process, or a core of one: its memory, what is mapped there, and what was copied of
 * its threads. Plain values that live as long as the program; filled by live.h or core.h, then by
 * python_frames.h and native_frames.h. One thread. */
#ifndef CT_TOOLS_STACKS_TARGET_H
#define CT_TOOLS_STACKS_TARGET_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "interpose/python/python.h"
#include "tools/stacks/pages.h"

struct ct_object;

/* A part of the address space. */
struct ct_range {
	uint64_t begin, end;
	uint64_t offset;	  /* of `begin` in the file */
	const char *path;	  /* "": not a file's */
	struct ct_object *object; /* private to object.h; NULL: not asked for */
	uint8_t is_code, is_writable;
};

struct ct_ranges {
	struct ct_range *list; /* ascending, apart */
	size_t n;
};

/* NULL: nothing is mapped there. */
struct ct_range *ct_range_find(const struct ct_ranges *ranges, uint64_t at);

/* The same, or the next one behind it; NULL: there is none. */
struct ct_range *ct_range_next(const struct ct_ranges *ranges, uint64_t at);

#define CT_REGISTERS                                                                               \
	17u /* fact: of x86-64, by their DWARF numbers: rax rdx rcx rbx rsi rdi rbp rsp r8 to r15  \
	       rip */
#define CT_RBP 6u  /* fact: likewise */
#define CT_RSP 7u  /* fact: likewise */
#define CT_RIP 16u /* fact: likewise */

struct ct_registers {
	uint32_t known; /* bit i: value[i] is */
	uint64_t value[CT_REGISTERS];
	uint64_t fs_base; /* the thread's pthread_t; 0 not known */
};

/* Those that the kernel gives, live or in a core. */
void ct_registers_take(struct ct_registers *registers, const struct user_regs_struct *kernel);

/* Bytes of a stack as they were when the thread was paused. */
struct ct_copy {
	uint64_t from;
	size_t len;
	uint8_t *bytes;
};
#define CT_COPIES 3u /* size: the stack, that of a signal handler, that of a coroutine */

#define CT_NATIVE_FRAMES 256u /* size: outer ones of a deeper stack are left out */
#define CT_PYTHON_FRAMES 256u /* size: likewise */

struct ct_native_frame {
	uint64_t pc; /* an address inside the call, or where the thread is */
};

struct ct_stack_sample {
	uint32_t tid;
	char name[16];
	char state;		/* as in /proc/PID/stat; 0 not known */
	const char *not_taken;	/* why there is no stack; NULL: there is one */
	const char *not_paused; /* why the thread was only read; NULL: it was stopped, or is in a
				   core */
	uint64_t paused_ns;	/* how long it was paused at most; 0: not at all */
	struct ct_registers registers;
	struct ct_copy copies[CT_COPIES];
	uint32_t n_copies;
	struct ct_native_frame *native;
	uint32_t n_native;
	struct ct_python_frame *python;
	uint32_t n_python;
	int is_cut;	   /* native frames are missing at the outer end */
	int is_python_cut; /* likewise of Python */
	uint64_t lacked; /* memory that the unwinder asked for and that had not been copied; 0 none */
};

struct ct_target {
	pid_t pid;   /* 0 not known */
	pid_t alive; /* a thread that has not ended: the first one may have, and its memory is gone
			then */
	const char *core; /* path; NULL: it lives */
	char *program;	  /* command line; NULL not known */
	struct ct_ranges ranges;
	struct ct_pages pages; /* what does not change while it is read: code and tables; of a core
				  everything */
	int (*read_true)(struct ct_target *target, uint64_t from, void *to,
			 size_t len); /* memory itself, never a file that stands for it: 0 or -1 */
	struct ct_stack_sample *samples; /* the first thread first; of a core the one that died */
	size_t n_samples;
	int signal;		  /* of a core: what ended it; 0 none or not known */
	uint64_t signal_address;  /* what it concerned; 0 none */
	const char *error, *hint; /* why there are no stacks; NULL: there are */
	const char **missing;	  /* what could not be read, a sentence each */
	size_t n_missing;
	struct ct_python python;  /* runtime 0: none */
	const char *python_error; /* why its frames are not known; NULL */
	uint32_t n_late;	  /* threads that did not come to a pause */
	int core_fd;
	struct ct_core *core_parts; /* private to core.h */
};

/* One more sentence, unless it is there already. */
void ct_target_misses(struct ct_target *target, char *sentence);

#endif
