/* SPDX-License-Identifier: Apache-2.0 */
/* file.h — small files of /proc and /sys. May block for as long as a driver likes: only for the look-around. */
#ifndef CT_ENVIRON_FILE_H
#define CT_ENVIRON_FILE_H

#include <stddef.h>

/* First line of a file, printable, without blanks at its end. 1, or 0 ("") if there is none. */
int ct_file_line(char *line, size_t size, const char *root, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The line that begins with `begin`, what follows it, without blanks around. 1 or 0 (""). */
int ct_file_find(char *rest, size_t size, const char *begin, const char *root, const char *path);

/* Last part of where a link points to. 1 or 0 (""). */
int ct_file_link(char *name, size_t size, const char *root, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
