/* SPDX-License-Identifier: Apache-2.0 */
/* column_keys — every key that a report may have, as json_keys.sh writes them: "part key", - for
 * the whole. Not of what is not described by columns.def. */
#include "analyzer/render/columns.h"

static void print(const char *part, const struct ct_columns *columns)
{
	for (size_t i = 0; i < columns->n; i++) {
		if (!columns->all[i].is_for_text)
			printf("%s %s\n", part, columns->all[i].key);
	}
}

int main(void)
{
	const struct ct_columns *report = ct_columns_report();

	print("-", report);
	for (size_t i = 0; i < report->n; i++) {
		if (report->all[i].rows)
			print(report->all[i].key, report->all[i].rows());
	}
	return 0;
}
