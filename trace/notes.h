/* SPDX-License-Identifier: Apache-2.0 */
/* notes.h — warnings of the start: appended to the start line and repeated in every segment's
 * checkpoint. Filled by the thread that starts the recording, only read after that. */
#ifndef CT_TRACE_NOTES_H
#define CT_TRACE_NOTES_H

#define CT_NOTES_MAX 12u /* size: each is in every segment; the first ones are enough to act on */

struct ct_notes {
	char text[CT_NOTES_MAX][160];
	unsigned n;
};

/* Add one sentence; those that find no space are dropped. */
void ct_notes_add(struct ct_notes *notes, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
