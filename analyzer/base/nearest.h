/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h — known words: is it one of them, and which one was a mistyped one meant to be? Pure
 * functions. */
#ifndef CT_ANALYZER_BASE_NEAREST_H
#define CT_ANALYZER_BASE_NEAREST_H

#include <stddef.h>

struct ct_nearest {
	const char *word;
	const char *best; /* NULL: nothing near enough so far */
	unsigned best_distance;
};

/* Begin with `*near = (struct ct_nearest){ .word = typed }`, offer every candidate, read
 * near->best. A word is near if at most a third of its letters (at least one, at most three) must
 * be changed, or if it starts with the typed one. */
void ct_nearest_offer(struct ct_nearest *near, const char *candidate);

/* Index of a word in a list of words with blanks between them, from 0; -1 if it is not there. */
int ct_word_find(const char *words, const char *word);

#endif
