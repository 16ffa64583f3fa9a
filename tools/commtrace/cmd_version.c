/* SPDX-License-Identifier: Apache-2.0 */
#include <curses.h>
#include <elfutils/version.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <libdeflate.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <zlib.h>
#include <zstd.h>

#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/source_id.h"
#include "trace/format.h"

/* For reports of defects: what was built, and with what. */
static void print_build(void)
{
	printf("source        %s\n", ct_source_id);
	printf("build type    %s%s%s\n", CT_BUILD_TYPE, CT_SANITIZER[0] ? ", sanitizers " : "",
	       CT_SANITIZER);
	printf("compiler      %s\n", CT_COMPILER);
	printf("libraries     glibc %s, zstd %s, zlib %s, libdeflate %s, jansson %s, elfutils "
	       "0.%d, protobuf-c "
	       "%s, ncurses %s\n",
	       gnu_get_libc_version(), ZSTD_versionString(), zlibVersion(),
	       LIBDEFLATE_VERSION_STRING, JANSSON_VERSION, _ELFUTILS_VERSION, protobuf_c_version(),
	       NCURSES_VERSION);
}

int ct_cmd_version(int argc, char **argv)
{
	struct ct_cli args;
	int code = ct_cli_parse(&args, CT_COMMAND_version, argc, argv);

	if (code < 0) {
		printf("commtrace %s, trace format %u\n", CT_RELEASE, CT_FORMAT_VERSION);
		if (ct_cli_has(&args, CT_OPTION_BUILD))
			print_build();
		code = ct_stdout_close();
	}
	ct_cli_fini(&args);
	return code;
}
