/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/run_id.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "trace/status.h"

int ct_run_id_get(int dirfd, const char *path, struct ct_run_id *id)
{
	struct statx sx;

	memset(id, 0, sizeof(*id));
	if (statx(dirfd, path, path[0] ? 0 : AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &sx) != 0)
		return CT_IO;
	id->dev = makedev(sx.stx_dev_major, sx.stx_dev_minor);
	id->ino = sx.stx_ino;
	if (sx.stx_mask & STATX_BTIME)
		id->born_ns = (uint64_t)sx.stx_btime.tv_sec * 1000000000u + sx.stx_btime.tv_nsec;
	return CT_OK;
}

int ct_run_id_same(const struct ct_run_id *a, const struct ct_run_id *b)
{
	return a->ino && a->dev == b->dev && a->ino == b->ino &&
	       (!a->born_ns || !b->born_ns || a->born_ns == b->born_ns);
}
