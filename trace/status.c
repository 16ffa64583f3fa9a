/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/status.h"

#include "trace/format_process.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *ct_status_text(int status)
{
	switch (status) {
#define CT_STATUS_CASE(code, name, text)                                                           \
	case code:                                                                                 \
		return text;
		CT_STATUS_MAP(CT_STATUS_CASE)
#undef CT_STATUS_CASE
	default:
		return "unknown status";
	}
}

int ct_fail(struct ct_err *err, int status, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return status;
	err->status = status;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return status;
}

int ct_fail_while(struct ct_err *err, int status, const char *fmt, ...)
{
	char front[sizeof(err->text)];
	char back[sizeof(err->text)];
	va_list ap;

	if (!err)
		return status;
	va_start(ap, fmt);
	vsnprintf(front, sizeof(front), fmt, ap);
	va_end(ap);
	memcpy(back, err->text, sizeof(back));
	snprintf(err->text, sizeof(err->text), "%.200s: %.270s", front, back);
	return err->status;
}

int ct_format_refuse(uint32_t version, struct ct_err *err)
{
	return ct_fail(err, CT_VERSION, "made %s of commtrace (format %u; this one reads %u)",
		       version > CT_FORMAT_VERSION ? "by a newer version"
						   : "before the first release",
		       version, CT_FORMAT_VERSION);
}
