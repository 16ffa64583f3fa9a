/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/finding.h"

#include <string.h>

/* Quoted as a shell and JSON would. */
static void write_value(const char *value, FILE *out)
{
	if (!strpbrk(value, " \"")) {
		fputs(value, out);
		return;
	}
	fputc('"', out);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		fputc(*value, out);
	}
	fputc('"', out);
}

void ct_finding_write(const struct ct_finding *f, FILE *out)
{
	for (size_t i = 0; i < f->n_pairs; i++) {
		const struct ct_finding_pair *pair = &f->pairs[i];

		fprintf(out, "%s%s=", i ? " " : "", pair->key);
		write_value(pair->value, out);
		if (pair->err)
			fprintf(out, " %s_err=%s", pair->key, pair->err);
	}
}
