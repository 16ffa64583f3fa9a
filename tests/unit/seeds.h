/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CT_TESTS_UNIT_SEEDS_H
#define CT_TESTS_UNIT_SEEDS_H

/* How many of n seeds are tried. A sanitizer looks at what the code does, not at how often it is
 * right, and is slow. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SOME_SEEDS(n) (((n) + 4) / 5)
#endif
#endif
#ifndef SOME_SEEDS
#define SOME_SEEDS(n) (n)
#endif

#endif
