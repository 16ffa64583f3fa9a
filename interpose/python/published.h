/* SPDX-License-Identifier: Apache-2.0 */
/* published.h — the offsets that an interpreter from 3.13 on publishes at the beginning of its
 * _PyRuntime.
 *
 * Words of 64 bits: a cookie, the version, whether there is no GIL; then for one structure after
 * the other its size and the offsets in it. Releases add words at the ends of structures:
 * published.c knows how long each is in which. */
#ifndef CT_INTERPOSE_PYTHON_PUBLISHED_H
#define CT_INTERPOSE_PYTHON_PUBLISHED_H

#include "interpose/python/python.h"

/* Fills version, free_threaded and the layout from what is at py->runtime. 0; -1: nothing is
 * published there
 * (`version` stays), in an unknown form (`version` says of which version), or implausible. */
int ct_python_published(struct ct_python *py, ct_python_read read);

#endif
