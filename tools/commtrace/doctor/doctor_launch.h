/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_launch.h — which argument of a launcher (doctor_launchers.def) is the program that it
 * starts? Judged by the words of the command line alone; nothing is started. Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_DOCTOR_DOCTOR_LAUNCH_H
#define CT_TOOLS_COMMTRACE_DOCTOR_DOCTOR_LAUNCH_H

enum ct_launch_kind {
	CT_LAUNCH_NONE, /* no launcher: a program by itself */
	CT_LAUNCH_HERE,
	CT_LAUNCH_HOSTS,
	CT_LAUNCH_PYTHON,
	CT_LAUNCH_CONTAINER,
};

struct ct_launch_command {
	enum ct_launch_kind kind;
	char **program;	    /* in argv; NULL: none was recognised */
	int is_python_file; /* for Python, which reads it; else it is executed */
	int is_module;	    /* of Python: `program` is its name */
	int is_text;	    /* of Python: its program is an argument (-c) */
	int lies_elsewhere; /* an option says so: that it is not found from here says nothing */
};

/* What argv[0], known as `name`, starts by argv[1] and so on (NULL-terminated). `is_program`
 * reports whether a word could be executed from here. */
struct ct_launch_command ct_launch_look(const char *name, char **argv,
					int (*is_program)(const char *word));

#endif
