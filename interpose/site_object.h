/* SPDX-License-Identifier: Apache-2.0 */
/* site_object.h — an address of code as "OBJECT+0xOFFSET (build ID)", equal in all processes that
 * run the same files. */
#ifndef CT_INTERPOSE_SITE_OBJECT_H
#define CT_INTERPOSE_SITE_OBJECT_H

#include <stddef.h>
#include <stdint.h>

/* `program` is the path of the program's own file. ID is the first 8 hex digits of the object's
 * build id; without one there are no brackets. 0, or -1: in no object, or in this library, which is
 * not the program. The address is one that this thread returns to, so that its object stays. */
int ct_site_object_text(uintptr_t address, const char *program, char *text, size_t room);

#endif
