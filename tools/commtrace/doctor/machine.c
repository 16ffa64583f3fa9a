/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/doctor/machine.h"

#include <stdio.h>
#include <string.h>

#include "trace/facts.h"
#include "trace/status.h"
#include "trace/sys_file.h"
#include "trace/topology.h"

#define DEVICES "/sys/bus/pci/devices"
#define MOST_DEVICES 4096 /* size: of a machine with eight GPUs there are some hundreds */

/* Display controllers and accelerators (classes 03 and 12) of NVIDIA and AMD. */
static int is_gpu(const char *root, const char *id)
{
	char vendor[16], class[16];

	if (!ct_file_line(vendor, sizeof(vendor), root, DEVICES "/%s/vendor", id) ||
	    !ct_file_line(class, sizeof(class), root, DEVICES "/%s/class", id))
		return 0;
	return (strcmp(vendor, "0x10de") == 0 || strcmp(vendor, "0x1002") == 0) &&
	       (strncmp(class, "0x03", 4) == 0 || strncmp(class, "0x12", 4) == 0);
}

static void add_gpus(const char *root, struct ct_facts *facts)
{
	static ct_file_name ids[MOST_DEVICES];
	int n = ct_file_list(root, DEVICES, ids, MOST_DEVICES);
	unsigned gpus = 0;

	for (int i = 0; i < n; i++) {
		char key[24];

		if (!is_gpu(root, ids[i]))
			continue;
		snprintf(key, sizeof(key), "gpu.%u.pci", gpus);
		ct_facts_add(facts, key, ids[i]);
		ct_topology_gpu(root, gpus++, ids[i], facts);
	}
}

int ct_machine_read(const char *root, struct ct_arena *memory, struct ct_environment_facts *facts)
{
	static struct ct_facts list;
	const char *entry;
	uint32_t at = 0;
	int st = CT_OK;

	ct_facts_clear(&list);
	add_gpus(root, &list);
	ct_topology_nics(root, &list);
	ct_topology_infiniband(root, &list);
	while (st == CT_OK && (entry = ct_facts_next(&list, &at)))
		st = ct_facts_take(facts, memory, (const uint8_t *)entry, strlen(entry));
	return st;
}
