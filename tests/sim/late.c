/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/late.h"

#include <stddef.h>

__attribute__((visibility("default"))) void (*late_call)(void);

__attribute__((destructor)) static void end(void)
{
	if (late_call)
		late_call();
}
