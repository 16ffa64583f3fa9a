/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

static struct sim_driver driver;
static bool found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	found = true;
#define DRIVER(symbol)                                                                             \
	driver.symbol = (__typeof__(driver.symbol))dlsym(library, #symbol);                        \
	found = found && driver.symbol;
#include "tools/sim/nccl/driver.def"
	found = found && !driver.cuInit(0);
}

const struct sim_driver *sim_driver(void)
{
	pthread_once(&once, open_driver);
	return found ? &driver : NULL;
}
