/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/expect_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/say.h"

static int cannot_read(const char *path, const char *why)
{
	ct_say("cannot read the baseline checks: %s: %s", path, why);
	return CT_CODE_USAGE;
}

/* A profile that is installed, by its name: in share/ beside the program's folder. NULL, errno as
 * fopen() has it. */
static FILE *open_profile(const char *name)
{
	char self[PATH_MAX], *path = NULL, *slash;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	FILE *file = NULL;

	errno = ENOENT;
	if (len < 0 || strchr(name, '/'))
		return NULL;
	self[len] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	if (asprintf(&path, "%s/../share/commtrace/profiles/%s.json", self, name) > 0)
		file = fopen(path, "re");
	free(path);
	return file;
}

int ct_expect_open(const char *path, struct ct_expect **expect)
{
	FILE *file = fopen(path, "re");
	struct ct_err err = { .status = CT_OK };
	char *text;
	size_t len;
	int st;

	*expect = NULL;
	if (!file && errno == ENOENT)
		file = open_profile(path);
	if (!file) {
		int error = errno;

		cannot_read(path, strerror(error));
		if (error == ENOENT)
			ct_hint("a file, or the name of a profile: " CT_EXPECT_PROFILES);
		return CT_CODE_FAILED;
	}
	/* one byte more than allowed shows that there are too many */
	text = malloc(CT_EXPECT_BYTES + 1);
	errno = 0;
	len = text ? fread(text, 1, CT_EXPECT_BYTES + 1, file) : 0;
	st = text ? CT_OK : ct_fail(&err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	if (st == CT_OK && ferror(file))
		st = ct_fail(&err, CT_IO, "%s", strerror(errno));
	fclose(file);
	st = st ?: ct_expect_read(text, len, expect, &err);
	free(text);
	if (st == CT_OK)
		return 0;
	cannot_read(path, err.text);
	if (st == CT_FORMAT)
		ct_hint("{\"rules\": [{\"op\": \"AllReduce\", \"min_bytes\": 1048576, "
			"\"min_busbw_GBps\": 80}]}");
	return CT_CODE_FAILED;
}

/* A check that selects nothing neither passes nor fails: without a word a misspelt name would look
 * like success. */
static void warn_of_nothing(const struct ct_report_expect *expect)
{
	uint32_t warned = 0;

	for (size_t i = 0; i < expect->n; i++) {
		const struct ct_report_expectation *e = &expect->items[i];

		if (e->rows || e->result != CT_EXPECT_NA || e->rule == warned)
			continue;
		ct_warn("baseline check %u was not made: %s; to fail here, it needs \"required\": "
			"true",
			e->rule, e->why);
		warned = e->rule;
	}
}

int ct_expect_hold(const struct ct_expect *expect, struct ct_report *report)
{
	if (ct_expect_check(expect, report) == CT_OK) {
		warn_of_nothing(&report->expect);
		return 0;
	}
	ct_say("cannot compare the run with the baseline checks: %s", ct_status_text(CT_NOMEM));
	return CT_CODE_FAILED;
}
