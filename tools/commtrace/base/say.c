/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/say.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commtrace/base/progress.h"
#include "trace/text.h"

static enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;

int ct_color_set(const char *when)
{
	if (strcmp(when, "auto") == 0)
		color = COLOR_AUTO;
	else if (strcmp(when, "always") == 0)
		color = COLOR_ALWAYS;
	else if (strcmp(when, "never") == 0)
		color = COLOR_NEVER;
	else
		return 0;
	return 1;
}

int ct_color_wanted(FILE *out)
{
	const char *no_color = getenv(
		"NO_COLOR"); /* https://no-color.org: any value but the empty one */
	const char *term = getenv("TERM");

	if (color != COLOR_AUTO)
		return color == COLOR_ALWAYS;
	if (no_color && no_color[0])
		return 0;
	return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}

static void __attribute__((format(printf, 2, 0)))
say(const char *front, const char *fmt, va_list ap)
{
	const char *on = "", *off = "";
	char raw[2048], text[2048];

	vsnprintf(raw, sizeof(raw), fmt, ap);
	ct_text_clean(text, sizeof(text), raw, strlen(raw));
	ct_progress_clear();
	if (ct_color_wanted(stderr)) {
		on = "\033[1m";
		off = "\033[0m";
	}
	fprintf(stderr, "%s%s%s%s\n", on, front, off, text);
}

void ct_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("commtrace: ", fmt, ap);
	va_end(ap);
}

void ct_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("commtrace: warning: ", fmt, ap);
	va_end(ap);
}

void ct_hint(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("hint: ", fmt, ap);
	va_end(ap);
}
