/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h — what commtrace does when it is interrupted, and the signal state that a started
 * program must get.
 *
 * SIGPIPE and SIGXFSZ are ignored, so that a reader that went away and a file that would be larger
 * than is allowed are errors of write(2), which end the command in order. SIGINT, SIGTERM and
 * SIGHUP end the command with 128 + signal after the files being written were removed. Main thread
 * only. */
#ifndef CT_TOOLS_COMMTRACE_BASE_SIGNALS_H
#define CT_TOOLS_COMMTRACE_BASE_SIGNALS_H

/* First thing in main(). Also fills closed standard descriptors, so that no file of ours becomes fd
 * 0..2. */
void ct_signals_begin(void);

/* A file to remove when interrupted, until it is to be kept (or is gone). Copied. At most
 * CT_SIGNALS_FILES at a time; of more, and of paths of 4096 bytes, nothing is removed. */
#define CT_SIGNALS_FILES 8 /* size: no command writes as many at a time */
void ct_signals_remove_on_end(const char *path);
void ct_signals_keep(const char *path);

/* Between these two, signals wait: for a step that is done as a whole or not at all, and takes no
 * time. */
void ct_signals_hold(void);
void ct_signals_release(void);

/* From now on a signal only sets a mark, so that a command with more to clean up than one file can
 * do that. */
void ct_signals_defer(void);

/* 128 + signal after a deferred signal came, else 0. */
int ct_signals_deferred(void);

/* In the child between fork and exec: the signals as commtrace found them. */
void ct_signals_undo(void);

#endif
