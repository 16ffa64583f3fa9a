/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/environ/ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/recorder.h"
#include "trace/sys_file.h"

/* size: of each kind, so that one has space beside the other. */
#define MOST_OF_A_KIND (CT_PORTS_MOST / 2)
/* size: looks between two questions for the speed of a network device, which takes the kernel's
 * lock of all of them. */
#define SLOW_LOOKS 60u
/* size: hosts of containers have an interface for each of them. */
#define MOST_NAMES 512
#define MOST_PORTS_OF_DEVICE 16 /* size: InfiniBand devices have one or two */

/* Digits and nothing else. 1 or 0. */
static int read_number(uint64_t *value, const char *root, const char *dir, const char *file)
{
	char line[32];
	size_t len;

	if (!ct_file_line(line, sizeof(line), root, "%s/%s", dir, file))
		return 0;
	len = strlen(line);
	if (strspn(line, "0123456789") != len || len > 20)
		return 0;
	*value = strtoull(line, NULL, 10);
	return *value != UINT64_MAX;
}

static struct ct_port *find(struct ct_ports *ports, enum ct_port_kind kind, const char *name)
{
	for (uint32_t i = 0; i < ports->n; i++)
		if (ports->ports[i].rec.kind == kind && strcmp(ports->ports[i].name, name) == 0)
			return &ports->ports[i];
	return NULL;
}

static void add(struct ct_ports *ports, enum ct_port_kind kind, const char *name, const char *dir,
		int is_software)
{
	struct ct_port *port = &ports->ports[ports->n];
	uint32_t n = 0;

	if (find(ports, kind, name))
		return;
	for (uint32_t i = 0; i < ports->n; i++)
		n += ports->ports[i].rec.kind == kind;
	if (n == MOST_OF_A_KIND) {
		ports->left_out++;
		return;
	}
	memset(port, 0, sizeof(*port));
	port->rec.id = ++ports->n;
	port->rec.kind = (uint8_t)kind;
	port->rec.is_software = (uint8_t)is_software;
	snprintf(port->name, sizeof(port->name), "%s", name);
	snprintf(port->dir, sizeof(port->dir), "%s", dir);
}

static int is_up(const char *root, const char *dir)
{
	char line[32];

	return ct_file_line(line, sizeof(line), root, "%s/operstate", dir) &&
	       strcmp(line, "up") == 0;
}

static int add_nics(struct ct_ports *ports, const char *root, ct_file_name *names, int n,
		    int software)
{
	int added = 0;

	for (int i = 0; i < n; i++) {
		char dir[96], link[64];

		snprintf(dir, sizeof(dir), "/sys/class/net/%.31s", names[i]);
		if (strcmp(names[i], "lo") == 0 ||
		    ct_file_link(link, sizeof(link), root, "%s/device", dir) == software ||
		    !is_up(root, dir))
			continue;
		add(ports, CT_PORT_NET, names[i], dir, software);
		added++;
	}
	return added;
}

static void look_for_nics(struct ct_ports *ports, const char *root)
{
	ct_file_name names[MOST_NAMES];
	int n = ct_file_list(root, "/sys/class/net", names, MOST_NAMES);
	int has_hardware = 0;

	for (uint32_t i = 0; i < ports->n; i++)
		has_hardware |= ports->ports[i].rec.kind == CT_PORT_NET &&
				!ports->ports[i].rec.is_software;
	has_hardware |= add_nics(ports, root, names, n, 0) > 0;
	if (!has_hardware)
		add_nics(ports, root, names, n, 1);
}

static void look_for_infiniband(struct ct_ports *ports, const char *root)
{
	ct_file_name names[CT_PORTS_MOST], numbers[MOST_PORTS_OF_DEVICE];
	int n = ct_file_list(root, "/sys/class/infiniband", names, CT_PORTS_MOST);

	for (int i = 0; i < n; i++) {
		char dir[96];
		int m;

		snprintf(dir, sizeof(dir), "/sys/class/infiniband/%.31s/ports", names[i]);
		m = ct_file_list(root, dir, numbers, MOST_PORTS_OF_DEVICE);
		for (int k = 0; k < m; k++) {
			char name[CT_PORT_NAME], port[96];

			if (strlen(numbers[k]) > 8 ||
			    strspn(numbers[k], "0123456789") != strlen(numbers[k]))
				continue;
			snprintf(name, sizeof(name), "%.31s/%.8s", names[i], numbers[k]);
			snprintf(port, sizeof(port), "/sys/class/infiniband/%.31s/ports/%.8s",
				 names[i], numbers[k]);
			add(ports, CT_PORT_IB, name, port, 0);
		}
	}
}

/* "400 Gb/sec (4X NDR)", "2.5 Gb/sec (1X SDR)". Not by strtod, which follows the program's locale. */
static uint64_t infiniband_rate(const char *line)
{
	char *end;
	unsigned long tenths = strtoul(line, &end, 10) * 10;

	if (end == line || tenths > 1000000)
		return 0;
	if (end[0] == '.' && end[1] >= '0' && end[1] <= '9') {
		tenths += (unsigned long)(end[1] - '0');
		end += 2;
	}
	return strncmp(end, " Gb/sec", 7) == 0 ? tenths * (UINT64_C(1000000000) / 8 / 10) : 0;
}

static void describe_infiniband(const struct ct_port *port, const char *root,
				struct ct_port_rec *rec)
{
	char line[64];

	if (ct_file_line(line, sizeof(line), root, "%s/link_layer", port->dir))
		rec->layer = strcmp(line, "InfiniBand") == 0 ? CT_LAYER_INFINIBAND
			     : strcmp(line, "Ethernet") == 0 ? CT_LAYER_ETHERNET
							     : CT_LAYER_UNKNOWN;
	/* "4: ACTIVE", "5: ACTIVE_DEFER" */
	if (ct_file_line(line, sizeof(line), root, "%s/state", port->dir))
		rec->state = line[0] == '4' || line[0] == '5' ? CT_PORT_UP : CT_PORT_NOT_UP;
	if (ct_file_line(line, sizeof(line), root, "%s/rate", port->dir))
		rec->rate_Bps = infiniband_rate(line);
}

static void describe_nic(struct ct_port *port, const char *root, uint32_t look,
			 struct ct_port_rec *rec)
{
	uint64_t number;
	char line[64];

	/* ARPHRD_ETHER and ARPHRD_INFINIBAND of linux/if_arp.h */
	if (read_number(&number, root, port->dir, "type"))
		rec->layer = number == 1    ? CT_LAYER_ETHERNET
			     : number == 32 ? CT_LAYER_INFINIBAND
					    : CT_LAYER_UNKNOWN;
	if (ct_file_line(line, sizeof(line), root, "%s/operstate", port->dir))
		rec->state = strcmp(line, "up") == 0	    ? CT_PORT_UP
			     : strcmp(line, "unknown") == 0 ? CT_PORT_STATE_UNKNOWN
							    : CT_PORT_NOT_UP;
	if (port->slow_at && look - port->slow_at < SLOW_LOOKS && rec->state == port->rec.state)
		return;
	port->slow_at = look;
	/* Mb/s; of a port that is down, and of most software, -1 or nothing */
	rec->rate_Bps = read_number(&number, root, port->dir, "speed") && number < 100000000
				? number * 125000
				: 0;
}

static void describe(struct ct_ports *ports, struct ct_port *port, const char *root)
{
	struct ct_port_rec now = port->rec;

	if (now.kind == CT_PORT_IB)
		describe_infiniband(port, root, &now);
	else
		describe_nic(port, root, ports->looks, &now);
	if (port->change && memcmp(&now, &port->rec, sizeof(now)) == 0)
		return;
	now.found_ns = ct_now_ns();
	port->rec = now;
	port->change = ++ports->changes;
}

static void read_counters(const struct ct_port *port, const char *root,
			  struct ct_port_values *values)
{
	memset(values, 0, sizeof(*values));
	for (unsigned id = 0; id < CT_PORT_COUNTER_IDS; id++) {
		const struct ct_port_counter *row = &ct_port_counters[id];

		if (row->of != (enum ct_port_kind)port->rec.kind ||
		    !read_number(&values->value[id], root, port->dir, row->file))
			continue;
		values->present |= UINT64_C(1) << id;
	}
}

static void read_kind(struct ct_ports *ports, enum ct_port_kind kind, const char *root,
		      struct ct_port_sample *sample)
{
	for (uint32_t i = 0; i < ports->n; i++) {
		struct ct_port *port = &ports->ports[i];

		if (port->rec.kind != kind)
			continue;
		atomic_store_explicit(&ports->doing, port->name, memory_order_release);
		read_counters(port, root, &sample->values[i]);
		if (!sample->values[i].present)
			continue; /* it is gone, or has no value */
		sample->ports |= UINT64_C(1) << i;
		describe(ports, port, root);
	}
	atomic_store_explicit(&ports->doing, NULL, memory_order_release);
}

/* InfiniBand queries firmware: last. */
void ct_ports_read(struct ct_ports *ports, const char *root, struct ct_port_sample *sample)
{
	ports->looks++;
	ports->left_out = 0;
	sample->ports = 0;
	/* release: a thread that reads what is being done, without owning the list, reads the text */
	atomic_store_explicit(&ports->doing, "the list of network devices", memory_order_release);
	look_for_nics(ports, root);
	read_kind(ports, CT_PORT_NET, root, sample);
	atomic_store_explicit(&ports->doing, "the list of InfiniBand devices",
			      memory_order_release);
	look_for_infiniband(ports, root);
	read_kind(ports, CT_PORT_IB, root, sample);
}
