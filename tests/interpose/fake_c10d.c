/* SPDX-License-Identifier: Apache-2.0 */
/* fake_c10d.c — what torch's ProcessGroupGloo queues and carries out, without torch: a work is a
 * function. Both forms of execute that there have been. */
#include "tests/interpose/fake_c10d.h"

#define FAKE __attribute__((visibility("default")))

FAKE void fake_enqueue(void *group, struct fake_work **work) __asm__(FAKE_ENQUEUE);
FAKE void fake_execute(struct fake_work **work) __asm__(FAKE_EXECUTE);
FAKE void fake_execute_const(struct fake_work **work) __asm__(FAKE_EXECUTE_CONST);

void fake_enqueue(void *group, struct fake_work **work)
{
	(void)group;
	(*work)->queued++;
}

void fake_execute(struct fake_work **work)
{
	(*work)->run(*work);
}

void fake_execute_const(struct fake_work **work)
{
	(*work)->run(*work);
}
