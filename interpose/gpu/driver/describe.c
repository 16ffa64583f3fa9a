/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/driver/describe.h"

#include <stdio.h>
#include <string.h>

static void add_uuid(struct ct_facts *facts, const char *key, const unsigned char *b)
{
	ct_facts_addf(facts, key,
		      "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		      b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
		      b[12], b[13], b[14], b[15]);
}

static const char *gpu_key(char *key, unsigned n, const char *what)
{
	snprintf(key, CT_FACT_KEY, "gpu.%u.%s", n, what);
	return key;
}

static int attribute(const struct ct_cuda *cuda, int which, int device)
{
	int value = -1;

	if (!cuda->device_get_attribute ||
	    cuda->device_get_attribute(&value, which, device) != CUDA_SUCCESS)
		return -1;
	return value;
}

/* GPUs are numbered by use, so that rank 0's first one is compared with rank 1's first one. */
void ct_gpu_describe(const struct ct_cuda *cuda, int device, struct ct_facts *facts)
{
	char key[CT_FACT_KEY], text[128], number[16];
	CUuuid uuid;
	unsigned n = 0;
	int version, major, minor;

	for (; n < 64; n++) {
		const char *known = ct_facts_find(facts, gpu_key(key, n, "device"));

		snprintf(number, sizeof(number), "%d", device);
		if (known && strcmp(known, number) == 0)
			return; /* another context on it */
		if (!known)
			break;
	}
	if (n == 0 && cuda->driver_get_version &&
	    cuda->driver_get_version(&version) == CUDA_SUCCESS)
		ct_facts_addf(facts, "lib.cuda.version", "%d.%d", version / 1000,
			      version % 1000 / 10);
	if (cuda->device_get_name &&
	    cuda->device_get_name(text, sizeof(text), device) == CUDA_SUCCESS) {
		text[sizeof(text) - 1] = '\0';
		ct_facts_add(facts, gpu_key(key, n, "name"), text);
	}
	if (cuda->device_get_uuid && cuda->device_get_uuid(&uuid, device) == CUDA_SUCCESS)
		add_uuid(facts, gpu_key(key, n, "uuid"), (const unsigned char *)uuid.bytes);
	major = attribute(cuda, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
	minor = attribute(cuda, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
	if (major >= 0 && minor >= 0)
		ct_facts_addf(facts, gpu_key(key, n, "compute"), "%d.%d", major, minor);
	if (attribute(cuda, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) > 0)
		ct_facts_addf(facts, gpu_key(key, n, "multiprocessors"), "%d",
			      attribute(cuda, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
	if (attribute(cuda, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device) > 0)
		ct_facts_addf(facts, gpu_key(key, n, "clock_khz"), "%d",
			      attribute(cuda, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device));
	if (cuda->device_get_pci_bus_id &&
	    cuda->device_get_pci_bus_id(text, sizeof(text), device) == CUDA_SUCCESS) {
		text[sizeof(text) - 1] = '\0';
		ct_facts_add(facts, gpu_key(key, n, "pci"), text);
	}
	/* last: a thread that finds this finds the rest */
	ct_facts_addf(facts, gpu_key(key, n, "device"), "%d", device);
}
