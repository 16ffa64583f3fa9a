/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a machine whose /sys the test writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commtrace/doctor/machine.h"
#include "tools/commtrace/doctor/nvlink.h"

static char root[] = "/tmp/ct_machine_XXXXXX";

static void write_file(const char *dir, const char *name, const char *line)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, dir);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(path, 0700);
	}
	mkdir(path, 0700);
	strcat(path, "/");
	strcat(path, name);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "%s\n", line);
	fclose(file);
}

static void add_device(const char *id, const char *vendor, const char *class, const char *width)
{
	char dir[128];

	snprintf(dir, sizeof(dir), "sys/bus/pci/devices/%s", id);
	write_file(dir, "vendor", vendor);
	write_file(dir, "class", class);
	write_file(dir, "current_link_width", width);
	write_file(dir, "max_link_width", "16");
}

static void gpus_are_found_by_class_and_maker(void **state)
{
	struct ct_environment_facts facts = { 0 };
	struct ct_arena *memory = ct_arena_new();
	char command[64];

	(void)state;
	assert_non_null(mkdtemp(root));
	add_device("0000:3b:00.0", "0x10de", "0x030200", "16"); /* a GPU */
	add_device("0000:3c:00.0", "0x10de", "0x040300", "16"); /* its sound */
	add_device("0000:5d:00.0", "0x1002", "0x120000", "8");	/* an accelerator */
	add_device("0000:80:00.0", "0x1a03", "0x030000", "1");	/* a console */
	write_file("sys/class/infiniband/mlx5_0/ports/1", "rate", "400 Gb/sec (4X NDR)");
	write_file("sys/class/infiniband/mlx5_0/ports/1", "state", "4: ACTIVE");
	assert_int_equal(ct_machine_read(root, memory, &facts), 0);
	assert_string_equal(ct_facts_value(&facts, "gpu.0.pci"), "0000:3b:00.0");
	assert_string_equal(ct_facts_value(&facts, "gpu.0.pcie_width"), "16");
	assert_string_equal(ct_facts_value(&facts, "gpu.1.pci"), "0000:5d:00.0");
	assert_string_equal(ct_facts_value(&facts, "gpu.1.pcie_width"), "8");
	assert_null(ct_facts_value(&facts, "gpu.2.pci"));
	assert_string_equal(ct_facts_value(&facts, "ib.mlx5_0.rate"), "400 Gb/sec (4X NDR)");
	ct_facts_fini(&facts);
	ct_arena_free(memory);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static void a_gpu_with_fewer_links_than_others_of_its_model_is_wrong(void **state)
{
	static const char h100[] = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n"
				   "\t Link 0: 26.562 GB/s\n\t Link 1: 26.562 GB/s\n"
				   "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-2)\n"
				   "\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n"
				   "GPU 2: NVIDIA T4 (UUID: GPU-3)\n";
	static const char
		none[] = "GPU 0: NVIDIA H100 PCIe (UUID: GPU-1)\n\t Link 0: <inactive>\n"
			 "GPU 1: NVIDIA H100 PCIe (UUID: GPU-2)\n\t Link 0: (Not supported)\n";
	struct ct_report_topology links = { 0 };
	struct ct_arena *memory = ct_arena_new();

	(void)state;
	ct_nvlink_count(h100, memory, &links);
	assert_int_equal(links.known, 2);
	assert_int_equal(links.wrong, 1);
	assert_string_equal(links.first, "GPU 1: 1 of 2 links are active");
	links = (struct ct_report_topology){ 0 };
	ct_nvlink_count(none, memory, &links);
	ct_nvlink_count("no devices\n", memory, &links);
	ct_nvlink_count("", memory, &links);
	assert_int_equal(links.known, 0);
	ct_arena_free(memory);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_are_found_by_class_and_maker),
		cmocka_unit_test(a_gpu_with_fewer_links_than_others_of_its_model_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
