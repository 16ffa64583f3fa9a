/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/identity.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/hash.h"
#include "interpose/hydra.h"
#include "trace/block.h"

const char *ct_identity_env(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return (*env)[len + 1] ? *env + len + 1 : NULL;
	return NULL;
}

/* First line of a small file, without its end; "" if it cannot be read. */
static void read_line(const char *path, char *line, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, line, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

static uint64_t inode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_ino : 0;
}

/* Field 22 of /proc/PID/stat: start of the process in clock ticks since boot. 0 unknown. */
static uint64_t start_ticks(uint32_t pid)
{
	char path[40], stat_line[1024];
	const char *p;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	read_line(path, stat_line, sizeof(stat_line));
	p = strrchr(stat_line, ')'); /* the name before it may hold anything */
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

/* The first of the variables whose value is a number of at least 0. */
static int32_t number_from(char *const *env, const char *const *names)
{
	for (; *names; names++) {
		const char *value = ct_identity_env(env, *names);
		char *end;
		long n;

		if (!value)
			continue;
		errno = 0;
		n = strtol(value, &end, 10);
		if (end != value && !*end && !errno && n >= 0 && n < 1 << 30)
			return (int32_t)n;
	}
	return -1;
}

static void read_ranks(struct ct_process *p, const struct ct_settings *settings, char *const *env)
{
	/* Nearest to the program first: torchrun inside a Slurm step inside
	 * mpirun. A rank and a size of different launchers would not fit together, so both come
	 * from the same row. */
	static const struct {
		const char *rank, *size, *local;
	} launchers[] = {
		{ "RANK", "WORLD_SIZE", "LOCAL_RANK" },
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK" },
		{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK" },
		{ "PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK" },
		{ "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID" },
		{ "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID" },
	};
	const char *pmix;

	p->rank = -1;
	p->world_size = -1;
	p->local_rank = -1;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]) && p->rank < 0; i++) {
		p->rank = number_from(env, (const char *[]){ launchers[i].rank, NULL });
		p->world_size = number_from(env, (const char *[]){ launchers[i].size, NULL });
		p->local_rank = number_from(env, (const char *[]){ launchers[i].local, NULL });
	}
	/* srun --mpi=pmix leaves the rest to its own variables */
	pmix = ct_identity_env(env, "PMIX_NAMESPACE");
	if (p->rank >= 0 && p->world_size < 0 && pmix && strncmp(pmix, "slurm.pmix.", 11) == 0 &&
	    number_from(env, (const char *[]){ "SLURM_PROCID", NULL }) == p->rank) {
		p->world_size = number_from(env, (const char *[]){ "SLURM_NTASKS", NULL });
		p->local_rank = number_from(env, (const char *[]){ "SLURM_LOCALID", NULL });
	}
	if (settings->RANK >= 0)
		p->rank = (int32_t)settings->RANK;
	p->restart = (uint32_t)number_from(env,
					   (const char *[]){ "TORCHELASTIC_RESTART_COUNT", NULL });
	if (p->restart == UINT32_MAX)
		p->restart = 0;
}

/* A name may come from anywhere and goes into file names. */
static void sanitise(char *name)
{
	for (; *name; name++)
		if (!isascii((unsigned char)*name) ||
		    !(isalnum((unsigned char)*name) || strchr("-_.+", *name)))
			*name = '_';
}

/* What is too long is cut, on all ranks alike. */
static void copy_name(char *to, size_t size, const char *from)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = '\0';
	sanitise(to);
	if (to[0] == '.')
		to[0] = '_';
}

/* What mpirun calls this job; "" if the program was not started by one, or it does not say. Never a
 * Slurm step: mpirun starts the ranks of its own node itself and the others through a step, and
 * only those would know its number. */
static void read_mpirun(struct ct_process *p, char *const *env, char *name, size_t size)
{
	const char *pmix = ct_identity_env(env, "PMIX_NAMESPACE");
	const char *uri = ct_identity_env(env, "OMPI_MCA_orte_hnp_uri");
	const char *intel = ct_identity_env(env, "I_MPI_HYDRA_UUID");

	name[0] = '\0';
	if (ct_identity_env(env, "OMPI_COMM_WORLD_RANK")) {
		if (!pmix)
			return;
		/* OpenMPI 4's is made of host name and process id, which in a container are those
		 * of the job before. Where its mpirun listens is another each time. */
		if (uri)
			snprintf(name, size, "%.90s-%08x", pmix,
				 (unsigned)ct_fnv_text(CT_HASH_START, uri));
		else
			snprintf(name, size, "%.200s", pmix);
	} else if (ct_identity_env(env, "PMI_RANK")) {
		if (intel)
			snprintf(name, size, "%.200s", intel);
		else
			ct_hydra_job(p->ppid, name, size);
	}
}

/* Equal on all ranks and different from the job before. */
static void read_job(struct ct_process *p, const struct ct_settings *settings, char *const *env)
{
	const char *slurm = ct_identity_env(env, "SLURM_JOB_ID");
	const char *step = ct_identity_env(env, "SLURM_STEP_ID");
	const char *pmix = ct_identity_env(env, "PMIX_NAMESPACE");
	const char *elastic = ct_identity_env(env, "TORCHELASTIC_RUN_ID");
	const char *addr = ct_identity_env(env, "MASTER_ADDR");
	const char *port = ct_identity_env(env, "MASTER_PORT");
	char name[300], mpirun[256];

	read_mpirun(p, env, mpirun, sizeof(mpirun));
	if (settings->JOB[0])
		snprintf(name, sizeof(name), "%.200s", settings->JOB);
	else if (mpirun[0] && slurm)
		snprintf(name, sizeof(name), "%.30s.%.200s", slurm, mpirun);
	else if (mpirun[0])
		snprintf(name, sizeof(name), "%s", mpirun);
	else if (slurm)
		snprintf(name, sizeof(name), "%.90s.%.90s", slurm, step ? step : "0");
	else if (pmix)
		snprintf(name, sizeof(name), "%.200s", pmix);
	else if (elastic && strcmp(elastic, "none") != 0)
		snprintf(name, sizeof(name), "%.200s", elastic);
	else if (addr && port)
		snprintf(name, sizeof(name), "%.90s-%.90s", addr, port);
	else
		snprintf(name, sizeof(name), "%u-%llu", p->ppid,
			 (unsigned long long)start_ticks(p->ppid));
	copy_name(p->job, sizeof(p->job), name);
}

static void read_host(struct ct_process *p, const struct ct_settings *settings)
{
	char host[256] = "";

	read_line("/proc/sys/kernel/random/boot_id", p->boot_id, sizeof(p->boot_id));
	if (settings->HOST[0]) {
		snprintf(host, sizeof(host), "%.200s", settings->HOST);
		p->hostkey = ct_fnv_text(CT_HASH_START, settings->HOST);
	} else {
		gethostname(host, sizeof(host) - 1);
		p->hostkey = ct_fnv_text(CT_HASH_START, p->boot_id);
		p->hostkey = ct_hash_mix(p->hostkey, inode_of("/proc/self/ns/time"));
	}
	if (!p->hostkey)
		p->hostkey = 1;
	copy_name(p->host, sizeof(p->host), host[0] ? host : "host");
}

void ct_identity_read(struct ct_process *p, const struct ct_settings *settings, char *const *env)
{
	ssize_t n;

	p->pid = (uint32_t)getpid();
	p->ppid = (uint32_t)getppid();
	p->uid = (uint32_t)geteuid();
	p->pidns = (uint32_t)inode_of("/proc/self/ns/pid");
	p->start_ticks = start_ticks(p->pid);
	p->hang_after_ns = (uint64_t)settings->HANG_AFTER;
	p->clock_res_ns = CT_BLOCK_QUANTUM_NS;
	read_host(p, settings);
	read_ranks(p, settings, env);
	read_job(p, settings, env);
	snprintf(p->version, sizeof(p->version), "%s", CT_RELEASE);
	n = readlink("/proc/self/exe", p->exe, sizeof(p->exe) - 1);
	p->exe[n > 0 ? n : 0] = '\0';
}
