/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/nearest.h"

#include <string.h>

#define MAX_WORD 32 /* size: longer words are near to none */

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Letters to insert, remove, change or swap with their neighbour. */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned d[MAX_WORD + 1][MAX_WORD + 1];

	for (unsigned i = 0; i <= n; i++)
		d[i][0] = i;
	for (unsigned j = 0; j <= m; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		for (size_t j = 1; j <= m; j++) {
			d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1,
					d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}
	return d[n][m];
}

void ct_nearest_offer(struct ct_nearest *near, const char *candidate)
{
	size_t n = strlen(near->word), m = strlen(candidate);
	unsigned bound = m < 6 ? 1 : m < 9 ? 2 : 3, found;

	if (n == 0 || n > MAX_WORD || m > MAX_WORD)
		return;
	found = distance(near->word, n, candidate, m);
	if (found > bound && n >= 2 && strncmp(near->word, candidate, n) == 0)
		found = bound; /* the beginning of a word matches that word */
	if (found > bound || (near->best && near->best_distance <= found))
		return;
	near->best = candidate;
	near->best_distance = found;
}

int ct_word_find(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (int index = 0; *words; index++) {
		size_t n = strcspn(words, " ");

		if (n == len && strncmp(words, word, n) == 0)
			return index;
		words += n;
		words += strspn(words, " ");
	}
	return -1;
}
