/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h — the COMMTRACE_* variables, read once when recording starts.
 *
 * struct ct_settings is made from trace/settings.def: COMMTRACE_RING_MB is .RING_MB. A value that
 * cannot be used keeps the default and becomes a warning; so does a variable that does not exist,
 * with its nearest neighbour.
 */
#ifndef CT_TRACE_SETTINGS_H
#define CT_TRACE_SETTINGS_H

#include <stdint.h>

#include "trace/notes.h"

#define CT_SETTING_STR_BYTES 480 /* size: a longer value is a warning, and the default stays */

/* How a value of each type of settings.def is kept. */
#define CT_SETTING_STR(name) char name[CT_SETTING_STR_BYTES]
#define CT_SETTING_LIST(name) char name[CT_SETTING_STR_BYTES]
#define CT_SETTING_BOOL(name) int64_t name
#define CT_SETTING_INT(name) int64_t name
#define CT_SETTING_DURATION(name) int64_t name /* ns */
#define CT_SETTING_BYTES(name) int64_t name
#define CT_SETTING_MB(name) int64_t name /* bytes */

struct ct_settings {
#define X(NAME, type, value, text) CT_SETTING_##type(NAME);
#include "trace/settings.def"
#undef X
};

/* From an environment (NULL-terminated "NAME=value" strings). Always fills *settings. */
void ct_settings_read(struct ct_settings *settings, char *const *env, struct ct_notes *notes);

/* Is the word in a comma-separated list? */
int ct_settings_lists(const char *list, const char *word);

#endif
