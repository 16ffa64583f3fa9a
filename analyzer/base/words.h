/* SPDX-License-Identifier: Apache-2.0 */
/* words.h — the words of an enumeration that a map lists as XX(NAME, "word"). */
#ifndef CT_ANALYZER_BASE_WORDS_H
#define CT_ANALYZER_BASE_WORDS_H

#define CT_WORD(name, word) word,

/* The body of a function of the enumerator `of`: its word; NULL: there is none. */
#define CT_WORD_OF(MAP, of)                                                                        \
	static const char *const words[] = { MAP(CT_WORD) };                                       \
                                                                                                   \
	return (of) < sizeof(words) / sizeof(words[0]) ? words[of] : (const char *)0

#endif
