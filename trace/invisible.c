/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/invisible.h"

#include <stddef.h>
#include <string.h>

#include "trace/path.h"

const struct ct_invisible_row ct_invisible_rows[CT_INVISIBLE_COUNT] = {
#define X(ID, what, why, remedy) { #ID, what, why, remedy },
#include "trace/invisible.def"
#undef X
};

const struct ct_mark ct_marks[] = {
#define CT_MARK(ID, KIND, TEXT) { CT_INVISIBLE_##ID, CT_MARK_##KIND, TEXT },
#include "trace/invisible_marks.def"
};
const unsigned ct_n_marks = sizeof(ct_marks) / sizeof(ct_marks[0]);

static const struct {
	enum ct_invisible of;
	const char *text;
} excepts[] = {
#define CT_MARK_EXCEPT(ID, TEXT) { CT_INVISIBLE_##ID, TEXT },
#include "trace/invisible_marks.def"

};

const struct ct_invisible_row *ct_invisible_by_id(const char *id)
{
	for (unsigned i = 0; i < CT_INVISIBLE_COUNT; i++)
		if (strcmp(ct_invisible_rows[i].id, id) == 0)
			return &ct_invisible_rows[i];
	return NULL;
}

int ct_invisible_excepts(enum ct_invisible of, const char *path)
{
	const char *file = ct_path_name(path);

	for (size_t i = 0; i < sizeof(excepts) / sizeof(excepts[0]); i++)
		if (excepts[i].of == of &&
		    strncmp(file, excepts[i].text, strlen(excepts[i].text)) == 0)
			return 1;
	return 0;
}
