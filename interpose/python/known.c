/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/python/published.h"

static const struct known {
	uint32_t version;
	struct ct_python_layout at;
} known[] = {
#define X(VERSION, ...) { VERSION, { __VA_ARGS__ } },
#include "interpose/python/layouts.def"
};

int ct_python_lay_out(struct ct_python *py, ct_python_read read, uint32_t version)
{
	if (ct_python_published(py, read) == 0)
		return 0;
	if (py->version)
		return -1;
	py->version = version;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (version >> 16 != known[i].version)
			continue;
		py->at = known[i].at;
		return 0;
	}
	return -1;
}
