/* SPDX-License-Identifier: Apache-2.0 */
/* units_text.c — figures as analyzer/base/units.c spells them: each line of standard input is
 * `ns|bytes|Bps|count|pct VALUE`. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/units.h"

static struct ct_unit_text spelled(const char *unit, const char *value)
{
	uint64_t n = strtoull(value, NULL, 10);

	if (!strcmp(unit, "ns"))
		return ct_prose_ns(n);
	if (!strcmp(unit, "bytes"))
		return ct_prose_bytes(n);
	if (!strcmp(unit, "Bps"))
		return ct_prose_Bps(n);
	if (!strcmp(unit, "count"))
		return ct_text_count(n);
	return ct_prose_pct(strtod(value, NULL));
}

int main(void)
{
	char unit[8], value[64];

	while (scanf("%7s %63s", unit, value) == 2)
		puts(spelled(unit, value).s);
	return 0;
}
