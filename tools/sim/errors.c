/* SPDX-License-Identifier: Apache-2.0 */
/* errors.c — names and sentences of the driver's results. */
#include "tools/sim/driver.h"
#include "tools/sim/enter.h"

static const struct {
	CUresult result;
	const char *name, *sentence;
} errors[] = {
#define SIM_ERROR(driver, runtime, value, sentence) { driver, #driver, sentence },
#include "tools/sim/errors.def"
};

static CUresult find(CUresult result, size_t *i)
{
	for (*i = 0; *i < sizeof(errors) / sizeof(errors[0]); ++*i)
		if (errors[*i].result == result)
			return CUDA_SUCCESS;
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	size_t i;

	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	*name = find(error, &i) ? NULL : errors[i].name;
	return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **sentence)
{
	size_t i;

	if (!sentence)
		return CUDA_ERROR_INVALID_VALUE;
	*sentence = find(error, &i) ? NULL : errors[i].sentence;
	return *sentence ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
