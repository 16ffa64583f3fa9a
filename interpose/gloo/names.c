/* SPDX-License-Identifier: Apache-2.0 */
/* The wrappers by the names that they wrap. (Their types are those of the files that have them.) */
#include "interpose/gloo/gloo.h"

#include <string.h>

#define DECLARE(symbol, name) extern void named_##name(void) __asm__(symbol);
#define GLOO_CALL(symbol, name, ...) DECLARE(symbol, name)
#define GLOO_CALL_MESH(symbol, name) DECLARE(symbol, name)
#define GLOO_CALL_TRANSFER(symbol, name, ...) DECLARE(symbol, name)
#define GLOO_CALL_TRANSFER_ANY(symbol, name, ...) DECLARE(symbol, name)
#define GLOO_CALL_WAIT(symbol, name, ...) DECLARE(symbol, name)
#include "interpose/gloo/gloo_calls.def"

static const struct {
	const char *symbol;
	void (*wrapper)(void);
} names[] = {
#define ROW(symbol, name) { symbol, named_##name },
#define GLOO_CALL(symbol, name, ...) ROW(symbol, name)
#define GLOO_CALL_MESH(symbol, name) ROW(symbol, name)
#define GLOO_CALL_TRANSFER(symbol, name, ...) ROW(symbol, name)
#define GLOO_CALL_TRANSFER_ANY(symbol, name, ...) ROW(symbol, name)
#define GLOO_CALL_WAIT(symbol, name, ...) ROW(symbol, name)
#include "interpose/gloo/gloo_calls.def"
};

uintptr_t ct_gloo_wrapper(const char *symbol)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i].symbol, symbol) == 0)
			return (uintptr_t)names[i].wrapper;
	return 0;
}
