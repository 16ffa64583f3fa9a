/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c — main() for a fuzz target where there is no libFuzzer: each seed as it is, and cut
 * short at up to 256 lengths. The arguments are files and folders of files. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int replayed;

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t len = 0;
	size_t cap = 0;
	size_t got = 0;

	if (!file) {
		perror(path);
		return 1;
	}
	do {
		len += got;
		if (len == cap) {
			cap = cap ? 2 * cap : 1u << 16;
			data = realloc(data, cap);
			if (!data)
				abort();
		}
		got = fread(data + len, 1, cap - len, file);
	} while (got > 0);
	fclose(file);

	for (size_t cut = 0; cut < len; cut += len / 256 + 1) {
		/* A block of its own length, so that valgrind sees a read past the end. */
		uint8_t *head = malloc(cut ? cut : 1);

		if (!head)
			abort();
		memcpy(head, data, cut);
		LLVMFuzzerTestOneInput(head, cut);
		free(head);
	}
	LLVMFuzzerTestOneInput(data, len);
	free(data);
	replayed++;
	return 0;
}

static int replay(const char *path)
{
	struct stat st;
	DIR *dir;
	int failed = 0;

	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		return replay_file(path);
	dir = opendir(path);
	if (!dir) {
		perror(path);
		return 1;
	}
	for (struct dirent *entry; (entry = readdir(dir));) {
		char inside[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(inside, sizeof(inside), "%s/%s", path, entry->d_name);
		failed |= replay(inside);
	}
	closedir(dir);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	if (!replayed) {
		fprintf(stderr, "%s: no seed to replay\n", argv[0]);
		failed = 1;
	}
	return failed;
}
