/* SPDX-License-Identifier: Apache-2.0 */
/* sys_file.h — small files of /proc and /sys. May block for as long as a driver likes: only for
 * threads that no other thread waits for. */
#ifndef CT_TRACE_SYS_FILE_H
#define CT_TRACE_SYS_FILE_H

#include <stddef.h>

/* The first size - 1 bytes of a file, then a NUL. Their number, 0 if there are none. */
size_t ct_file_start(char *to, size_t size, const char *root, const char *path);

/* What is untrusted: cut at the end of the line, blanks instead of unprintable characters. */
void ct_file_tidy(char *line);

/* First line of a file, printable, without blanks at its end. 1, or 0 ("") if there is none. */
int ct_file_line(char *line, size_t size, const char *root, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The line that begins with `begin`, what follows it, without blanks around. 1 or 0 (""). */
int ct_file_find(char *rest, size_t size, const char *begin, const char *root, const char *path);

/* Last part of where a link points to. 1 or 0 (""). */
int ct_file_link(char *name, size_t size, const char *root, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The entries of a directory, sorted, at most `most`; without hidden ones, long ones and those with
 * a "=". Their number, 0 also if there is no such directory. */
#define CT_FILE_NAME 32 /* size: network devices have at most 15 characters */
typedef char ct_file_name[CT_FILE_NAME];
int ct_file_list(const char *root, const char *dir, ct_file_name *names, int most);

#endif
