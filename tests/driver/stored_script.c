/* Tells workloads/stored.h what stdin says, a line each, and has pmem_lines.h put a file there.
 *
 *   open PATH SIZE | begin | copy OFFSET SIZE SEED | clean OFFSET SIZE | delete PATH | save PATH
 *   prepare PATH | show WORD...
 *
 * Byte i of a copy is SEED + i. */
#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stored.h"
#include "trials/pmem_lines.h"

static void copy(int64_t offset, int64_t size, int seed)
{
	unsigned char *bytes = malloc((size_t)size);

	assert(bytes != NULL);
	for (int64_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(seed + i);
	stored_copy(bytes, size, offset);
	free(bytes);
}

static void show(char *words)
{
	lines_begin();
	for (char *rest, *word = strtok_r(words, " \n", &rest); word != NULL;
	     word = strtok_r(NULL, " \n", &rest)) {
		assert(lines_is_word(word));
		lines_word("1", word);
	}
	lines_show("1");
}

int main(void)
{
	static char line[1 << 16];
	char path[512], base[4096] = {0};
	int64_t a, b;
	int seed;

	stored_begin();
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "open %511s %" SCNd64, path, &a) == 2)
			stored_open(path, base, a);
		else if (strcmp(line, "begin\n") == 0)
			stored_run();
		else if (sscanf(line, "copy %" SCNd64 " %" SCNd64 " %d", &a, &b, &seed) == 3)
			copy(a, b, seed);
		else if (sscanf(line, "clean %" SCNd64 " %" SCNd64, &a, &b) == 2)
			stored_clean(b, a);
		else if (sscanf(line, "delete %511s", path) == 1)
			stored_delete(path);
		else if (sscanf(line, "save %511s", path) == 1)
			stored_save(path);
		else if (sscanf(line, "prepare %511s", path) == 1)
			lines_prepare(path, "persistent");
		else if (strncmp(line, "show ", 5) == 0)
			show(line + 5);
		else
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
