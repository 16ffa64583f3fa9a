/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/topology.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "trace/sys_file.h"

/* size: large hosts have 8 GPUs with a network device each, and some more. Each has several facts,
 * for which there are 32 KB. */
#define MOST_DEVICES 48

/* key.what=first line of the file; nothing if there is none, or only a placeholder. */
static void add(struct ct_facts *facts, const char *key, const char *what, const char *root,
		const char *dir, const char *file)
{
	char full[CT_FACT_KEY], line[128];

	if (!ct_file_line(line, sizeof(line), root, "%s/%s", dir, file))
		return;
	/* no node, no speed; what a GPU that was taken away says of its link */
	if (strcmp(line, "-1") == 0 || strcmp(line, "Unknown") == 0)
		return;
	snprintf(full, sizeof(full), "%.48s.%.24s", key, what);
	ct_facts_add(facts, full, line);
}

static int is_bus_id(const char *id)
{
	size_t len = strlen(id);

	return len >= 7 && len <= 20 && strspn(id, "0123456789abcdefABCDEF:.") == len;
}

static void add_link(struct ct_facts *facts, const char *key, const char *what, const char *root,
		     const char *dir, const char *file)
{
	char full[CT_FACT_KEY], name[128];

	if (!ct_file_link(name, sizeof(name), root, "%s/%s", dir, file))
		return;
	/* a virtual machine's device is not called by its bus address */
	if (strcmp(what, "pci") == 0 && !is_bus_id(name))
		return;
	snprintf(full, sizeof(full), "%.48s.%.24s", key, what);
	ct_facts_add(facts, full, name);
}

static void add_pcie(struct ct_facts *facts, const char *key, const char *root, const char *dir)
{
	add(facts, key, "numa", root, dir, "numa_node");
	add(facts, key, "pcie_width", root, dir, "current_link_width");
	add(facts, key, "pcie_width_max", root, dir, "max_link_width");
	add(facts, key, "pcie_speed", root, dir, "current_link_speed");
	add(facts, key, "pcie_speed_max", root, dir, "max_link_speed");
}

void ct_topology_gpu(const char *root, unsigned n, const char *bus_id, struct ct_facts *facts)
{
	char key[CT_FACT_KEY], dir[96];
	size_t at = 0;

	if (!is_bus_id(bus_id))
		return;
	at = (size_t)snprintf(dir, sizeof(dir), "/sys/bus/pci/devices/");
	for (; *bus_id && at + 1 < sizeof(dir); bus_id++)
		dir[at++] = (char)tolower((unsigned char)*bus_id);
	dir[at] = '\0';
	snprintf(key, sizeof(key), "gpu.%u", n);
	add_pcie(facts, key, root, dir);
}

void ct_topology_nics(const char *root, struct ct_facts *facts)
{
	ct_file_name names[MOST_DEVICES];
	int n = ct_file_list(root, "/sys/class/net", names, MOST_DEVICES);

	for (int i = 0; i < n; i++) {
		char key[CT_FACT_KEY], dir[96], device[112], line[64];
		int hard;

		snprintf(key, sizeof(key), "nic.%.31s", names[i]);
		snprintf(dir, sizeof(dir), "/sys/class/net/%.31s", names[i]);
		snprintf(device, sizeof(device), "%s/device", dir);
		hard = ct_file_link(line, sizeof(line), root, "%s", device);
		/* a container's only device is software, but it is up; the bridges of a host are of
		 * no interest */
		if (!hard && (strcmp(names[i], "lo") == 0 ||
			      !ct_file_line(line, sizeof(line), root, "%s/operstate", dir) ||
			      strcmp(line, "up") != 0))
			continue;
		add(facts, key, "state", root, dir, "operstate");
		add(facts, key, "mtu", root, dir, "mtu");
		if (hard) {
			add_link(facts, key, "driver", root, device, "driver");
			add_link(facts, key, "pci", root, dir, "device");
			add(facts, key, "numa", root, device, "numa_node");
		}
		/* queries the driver, under the kernel's lock of all network devices: last */
		add(facts, key, "speed", root, dir, "speed");
	}
}

void ct_topology_infiniband(const char *root, struct ct_facts *facts)
{
	ct_file_name names[MOST_DEVICES];
	int n = ct_file_list(root, "/sys/class/infiniband", names, MOST_DEVICES);

	for (int i = 0; i < n; i++) {
		char key[CT_FACT_KEY], dir[96], device[112], port[128];

		snprintf(key, sizeof(key), "ib.%.31s", names[i]);
		snprintf(dir, sizeof(dir), "/sys/class/infiniband/%.31s", names[i]);
		snprintf(device, sizeof(device), "%s/device", dir);
		snprintf(port, sizeof(port), "%s/ports/1", dir);
		add_link(facts, key, "pci", root, dir, "device");
		add_pcie(facts, key, root, device);
		add(facts, key, "firmware", root, dir, "fw_ver");
		add(facts, key, "layer", root, port, "link_layer");
		add(facts, key, "state", root, port, "state");
		add(facts, key, "rate", root, port, "rate");
	}
}
