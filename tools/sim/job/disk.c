/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/job/disk.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/sim/sim.h"

static _Atomic uint64_t hangs_until; /* sim time */

void simjob_disk_hang(uint64_t ns)
{
	if (simTiming())
		atomic_store(&hangs_until, simNow() + ns);
}

/* Exported by the program, so that all libraries use it. */
SIM_EXPORT ssize_t write(int fd, const void *bytes, size_t size)
{
	const uint64_t until = atomic_load_explicit(&hangs_until, memory_order_relaxed);
	struct stat st;

	if (until && simNow() < until && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		simSleepUntil(until);
	return syscall(SYS_write, fd, bytes, size);
}
