/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commtrace/run/preload_path.h"
#include "trace/text.h"

static const struct {
	const char *name, *what, *why, *remedy;
} table[CT_DOCTOR_IDS] = {
#define CHECK(ID, remedy_) [CT_DOCTOR_##ID] = { .name = #ID, .remedy = (remedy_) },
#include "tools/commtrace/doctor/doctor_checks.def"
#define X(ID, what_, why_, remedy_)                                                                \
	[CT_DOCTOR_##ID] = { .name = #ID, .what = (what_), .why = (why_), .remedy = (remedy_) },
#include "trace/invisible.def"
#undef X
};

const char *ct_doctor_name(enum ct_doctor_id id)
{
	return table[id].name;
}

enum ct_doctor_id ct_doctor_of(int invisible)
{
	static const enum ct_doctor_id ids[] = {
#define X(ID, what, why, remedy) CT_DOCTOR_##ID,
#include "trace/invisible.def"
#undef X
	};

	return ids[invisible];
}

const char *ct_doctor_remedy(enum ct_doctor_id id)
{
	return table[id].remedy;
}

void ct_doctor_machine(struct ct_doctor *d, char library[PATH_MAX])
{
	if (ct_preload_path(library) < 0)
		library[0] = '\0';
	ct_doctor_library(d);
	ct_doctor_preload(d);
	ct_doctor_settings(d);
	ct_doctor_paths(d);
	ct_doctor_limits(d);
}

void ct_doctor_add(struct ct_doctor *d, enum ct_doctor_id id, enum ct_doctor_answer answer,
		   const char *fmt, ...)
{
	struct ct_doctor_check *grown = reallocarray(d->checks, d->n_checks + 1,
						     sizeof(*d->checks));
	char raw[sizeof(grown->what)];
	va_list ap;

	if (!grown) {
		d->failed = 1;
		return;
	}
	d->checks = grown;
	grown += d->n_checks++;
	grown->id = id;
	grown->answer = answer;
	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	ct_text_clean(grown->what, sizeof(grown->what), raw, strlen(raw));
}

void ct_doctor_add_invisible(struct ct_doctor *d, enum ct_doctor_id id,
			     enum ct_doctor_answer answer, const char *where)
{
	ct_doctor_add(d, id, answer, "%.200s%s%.150s%s: %s", table[id].what, where[0] ? " (" : "",
		      where, where[0] ? ")" : "", table[id].why);
}
