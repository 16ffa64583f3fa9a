/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/this_host.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/ring_dir.h"

/* Default of a setting, from the table. */
static const char *setting_default(const char *name)
{
	static const struct {
		const char *name, *value;
	} settings[] = {
#define X(NAME, type, default, text) { #NAME, default },
#include "trace/settings.def"
#undef X
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		if (strcmp(settings[i].name, name) == 0)
			return settings[i].value;
	}
	return NULL;
}

void ct_host_ring_dirs(const char *ring_dir, const char *dirs[4])
{
	if (!ring_dir || !ring_dir[0])
		ring_dir = getenv("COMMTRACE_RING_DIR");
	if (!ring_dir || !ring_dir[0])
		ring_dir = setting_default("RING_DIR");
	ct_ring_dirs(ring_dir, getenv("TMPDIR"), dirs);
}

const char *ct_host_boot_id(void)
{
	static char text[64];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
	return text[0] ? text : NULL;
}
