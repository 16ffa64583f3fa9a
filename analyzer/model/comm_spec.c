/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/comm_spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MPI_PREFIX "MPI_COMM_"

/* "long..name" is any name that begins and ends so. */
static int is_shortened(const char *spec, const char *name)
{
	const char *dots = strstr(spec, "..");
	size_t head = dots ? (size_t)(dots - spec) : 0, tail = dots ? strlen(dots + 2) : 0;
	size_t n = strlen(name);

	return head && tail && n > head + tail && strncmp(spec, name, head) == 0 &&
	       strcmp(dots + 2, name + n - tail) == 0;
}

static int is_name(const char *spec, const char *name)
{
	return strcmp(spec, name) == 0 || is_shortened(spec, name);
}

struct ct_comm_digits ct_comm_digits(uint64_t key)
{
	struct ct_comm_digits digits;

	if (key >> 32)
		snprintf(digits.s, sizeof(digits.s), "%08" PRIx64, key >> 32);
	else
		snprintf(digits.s, sizeof(digits.s), "%0*" PRIx64, (int)CT_COMM_SPEC_DIGITS, key);
	return digits;
}

int ct_comm_spec_fits(const char *spec, const char *name, uint64_t key)
{
	size_t n = strlen(spec);
	char digits[20];

	if (name && is_name(spec, name))
		return 1;
	if (name && strncmp(name, MPI_PREFIX, strlen(MPI_PREFIX)) == 0 &&
	    is_name(spec, name + strlen(MPI_PREFIX)))
		return 1;
	snprintf(digits, sizeof(digits), "%016" PRIx64, key);
	return key && n >= CT_COMM_SPEC_DIGITS && n <= 16 &&
	       (strncasecmp(digits, spec, n) == 0 || strcasecmp(ct_comm_digits(key).s, spec) == 0);
}
