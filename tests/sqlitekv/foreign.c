/* Writes a LevelDB database as another program does, and has it open until its input ends.
 *
 * usage: foreign FOLDER ROWS SIZE
 *   ROWS  rows to write, in the order of their keys
 *   SIZE  bytes of a value
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <leveldb/c.h>

static void check(const char *what, const char *message)
{
	if (message == NULL)
		return;
	fprintf(stderr, "foreign: %s: %s\n", what, message);
	exit(1);
}

int main(int argc, char **argv)
{
	leveldb_options_t *options = leveldb_options_create();
	leveldb_writeoptions_t *write = leveldb_writeoptions_create();
	char *message = NULL, *value, key[32];
	size_t size;
	leveldb_t *db;

	check("usage", argc == 4 ? NULL : "foreign FOLDER ROWS SIZE");
	size = strtoul(argv[3], NULL, 10);
	value = calloc(1, size + 1);
	check("value", value != NULL ? NULL : "no memory");
	leveldb_options_set_create_if_missing(options, 1);
	db = leveldb_open(options, argv[1], &message);
	check(argv[1], message);
	for (long row = 0; row < strtol(argv[2], NULL, 10); row++) {
		snprintf(key, sizeof(key), "%08ld", row);
		leveldb_put(db, write, key, strlen(key), value, size, &message);
		check(key, message);
	}
	puts("open");
	fflush(stdout);
	while (getchar() != EOF)
		;
	leveldb_close(db);
	leveldb_writeoptions_destroy(write);
	leveldb_options_destroy(options);
	free(value);
	return 0;
}
