/* SPDX-License-Identifier: Apache-2.0 */
/* options.h — the command line of commtrace-synth, and scenarios, which say the same as JSON. */
#ifndef CT_TOOLS_SYNTH_OPTIONS_H
#define CT_TOOLS_SYNTH_OPTIONS_H

#include <jansson.h>

#include "tools/synth/synth.h"

struct ct_synth_command {
	struct ct_synth_options options;
	const char *run;
	char *truth;
	json_t *texts; /* of scenarios, to which options point */
};

/* Ends the program where it cannot be understood (exit 2), or was asked for help. */
void ct_synth_command(struct ct_synth_command *command, int argc, char **argv);
void ct_synth_command_free(struct ct_synth_command *command);

#endif
