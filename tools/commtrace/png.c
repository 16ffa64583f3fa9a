/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/png.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/commtrace/base/child.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/say.h"

/* The program's standard input and output. */
struct pipe_ends {
	int in, out;
};

static int redirect(void *arg)
{
	const struct pipe_ends *ends = arg;

	return dup2(ends->in, STDIN_FILENO) < 0 || dup2(ends->out, STDOUT_FILENO) < 0;
}

/* Both files are memory: a full disk is found where the result is written, and no pipe can block. */
static int convert(int in, int out)
{
	static char program[] = "rsvg-convert", format[] = "--format=png", zoom[] = "--zoom=2",
		    any_size[] = "--unlimited";
	char *argv[] = { program, format, zoom, any_size, NULL };
	static const char *const no_rings[] = { NULL };
	struct pipe_ends ends = { in, out };
	struct ct_child child = {
		.argv = argv, .prepare = redirect, .arg = &ends, .ring_dirs = no_rings
	};

	if (ct_child_run(&child) != 0)
		return CT_CODE_FAILED;
	if (child.exec_error) {
		ct_say("PNG needs librsvg: use --format=svg");
		ct_hint("%s: %s; Debian's package is librsvg2-bin", program,
			strerror(child.exec_error));
		return CT_CODE_USAGE;
	}
	if (child.status == 0)
		return 0;
	ct_say("cannot draw the PNG: %s ended with %d", program, ct_child_code(child.status));
	return CT_CODE_FAILED;
}

static void copy(int from, FILE *out)
{
	char bytes[65536];
	ssize_t n;

	lseek(from, 0, SEEK_SET);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		fwrite(bytes, 1, (size_t)n, out);
}

int ct_png_of_svg(FILE *svg, FILE *out)
{
	int png = memfd_create("png", MFD_CLOEXEC), code = CT_CODE_FAILED;

	if (png < 0 || fflush(svg) != 0 || lseek(fileno(svg), 0, SEEK_SET) != 0)
		ct_say("cannot draw the PNG: %s", strerror(errno));
	else
		code = convert(fileno(svg), png);
	if (!code)
		copy(png, out);
	if (png >= 0)
		close(png);
	return code;
}
