/* SPDX-License-Identifier: Apache-2.0 */
/* fake_user.c — an extension module: calls Gloo, and is linked with a copy of it. */
#include "tests/interpose/fake_gloo.h"

void fake_user_call(struct fake_options *options) __attribute__((visibility("default")));

void fake_user_call(struct fake_options *options)
{
	gloo_barrier(options);
	__asm__ volatile(""); /* no jump: the caller is known by its return address */
}
