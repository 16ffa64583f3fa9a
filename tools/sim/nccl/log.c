/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/driver.h"

enum { NOTHING, VERSION, WARN, INFO };

static int level;
static char host[64] = "?";
static char last_error[256];
static pthread_mutex_t last_error_lock = PTHREAD_MUTEX_INITIALIZER;

static void read_level(void)
{
	static const char *const names[] = { "NONE", "VERSION", "WARN", "INFO", "ABORT", "TRACE" };
	const char *asked = getenv("NCCL_DEBUG");

	for (int i = 0; asked && i < 6; i++)
		if (!strcasecmp(asked, names[i]))
			level = i;
	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = 0;
}

static int log_level(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_level);
	return level;
}

/* One write for each line: ranks share the standard output. */
static void put(int device, const char *what, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

static void put(int device, const char *what, const char *format, va_list args)
{
	char line[1024];
	int n = snprintf(line, sizeof(line) - 1, "%s:%d:%d [%d] NCCL %s ", host, (int)getpid(),
			 (int)gettid(), device < 0 ? 0 : device, what);
	int m = vsnprintf(line + n, sizeof(line) - 1 - (size_t)n, format, args);
	size_t size = (size_t)(n + m);

	if (size > sizeof(line) - 2)
		size = sizeof(line) - 2;
	line[size++] = '\n';
	if (write(STDOUT_FILENO, line, size) < 0)
		return;
}

void sim_info(int device, const char *format, ...)
{
	va_list args;

	if (log_level() < INFO)
		return;
	va_start(args, format);
	put(device, "INFO", format, args);
	va_end(args);
}

void sim_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	pthread_mutex_lock(&last_error_lock);
	vsnprintf(last_error, sizeof(last_error), format, args);
	pthread_mutex_unlock(&last_error_lock);
	va_end(args);
	if (log_level() < WARN)
		return;
	va_start(args, format);
	put(-1, "WARN", format, args);
	va_end(args);
}

static void print_version(void)
{
	static const char text[] = "NCCL version 2.30.7+cuda13.0\n";

	if (log_level() >= VERSION && write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		return;
}

void sim_log_version(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, print_version);
}

void sim_nccl_misuse(const char *call, const char *why)
{
	const struct sim_driver *driver = sim_driver();

	call += call[0] == 'p'; /* the strong twin's name is the body's */
	sim_warn("%s : %s", call, why);
	if (driver)
		driver->simBlame(call, why);
}

SIM_NCCL(const char *, ncclGetLastError, (ncclComm_t comm))
{
	(void)comm;
	return last_error;
}

SIM_NCCL(const char *, ncclGetErrorString, (ncclResult_t result))
{
	static const char *const texts[] = {
		"no error",
		"unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
		"unhandled system error (run with NCCL_DEBUG=INFO for details)",
		"internal error - please report this issue to the NCCL developers",
		"invalid argument (run with NCCL_DEBUG=WARN for details)",
		"invalid usage (run with NCCL_DEBUG=WARN for details)",
		"remote process exited or there was a network error",
		"NCCL operation in progress",
		"timeout",
	};

	return (unsigned)result < sizeof(texts) / sizeof(texts[0]) ? texts[result]
								   : "unknown result code";
}

/* Exported by the real library although no header declares it. */
SIM_EXPORT void ncclResetDebugInitInternal(void);
void ncclResetDebugInitInternal(void)
{
	read_level();
}

SIM_NCCL(void, ncclResetDebugInit, (void))
{
	ncclResetDebugInitInternal();
}
