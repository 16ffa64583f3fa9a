/* SPDX-License-Identifier: Apache-2.0 */
/* run_env.h — the environment that `commtrace run` gives only to its program: LD_PRELOAD, the
 * COMMTRACE_* settings of the command line, the variables that make NCCL and NVTX load the library,
 * and the option that makes AddressSanitizer accept it. */
#ifndef CT_TOOLS_COMMTRACE_RUN_RUN_ENV_H
#define CT_TOOLS_COMMTRACE_RUN_RUN_ENV_H

#include <stddef.h>

struct ct_run_env {
	struct ct_run_setting {
		char name[64]; /* with COMMTRACE_ */
		const char *value;
	} * settings;
	size_t n_settings;
	const char *preload; /* path of the library */
	int has_asan; /* a program of the command line has AddressSanitizer: program_file.h */
	int plugin;   /* it shall also be NCCL's profiler plugin, unless there is one */
};

/* Remember NAME=VALUE for --set; NAME with or without COMMTRACE_. 0, or an exit status after a
 * message. */
int ct_run_env_set(struct ct_run_env *env, const char *assignment);

/* Remember COMMTRACE_`name`=`value`; the last one wins. `value` is borrowed. 0, or an exit status. */
int ct_run_env_add(struct ct_run_env *env, const char *name, const char *value);

/* Value that the program will see of COMMTRACE_`name`; NULL if none. */
const char *ct_run_env_get(const struct ct_run_env *env, const char *name);

/* Name of the job from the environment of this process, by the rules of a rank
 * (interpose/identity.c); 0 if only a rank can find it. */
int ct_run_env_job(const struct ct_run_env *env, char *job, size_t size);

/* Name of this host, by the rules of a rank; at most 63 bytes. */
void ct_run_env_host(const struct ct_run_env *env, char host[64]);

/* Put all of it into the environment of the calling process, a child about to exec. 0 or -1. */
int ct_run_env_apply(void *env);

void ct_run_env_fini(struct ct_run_env *env);

#endif
