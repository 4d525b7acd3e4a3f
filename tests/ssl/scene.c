/* What scenes are made of (scene.h). */
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "state.h"

const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
struct ssl_options options;
uint64_t acknowledged;
char log_name[16], other_log[16];

void check(bool good, const char *what)
{
	if (good)
		return;
	printf("not so: %s\n", what);
	exit(1);
}

void open_target(struct target *ours, bool fresh)
{
	struct error error;

	check(ssl_open("a.db", flags, &options, &ours->ssl, &error), "opened");
	ours->db = ssl_db(ours->ssl);
	if (fresh)
		check(load_create(ours) == SQLITE_OK && ssl_checkpoint(ours->ssl, &error), "made");
}

void make_live(const char *name)
{
	struct target ours = {0};
	struct error error;

	check(ssl_open(name, flags, &options, &ours.ssl, &error), "opened");
	ours.db = ssl_db(ours.ssl);
	check(load_create(&ours) == SQLITE_OK, "created");
	check(ssl_checkpoint(ours.ssl, &error), "checkpoint");
	for (int64_t i = 0; i < 12; i++)
		check(load_transaction(&ours, MIX_PLAIN, 1, i) == SQLITE_OK, "transaction");
	acknowledged = load_hash(ours.db, false);
	disk_cut_now();
	ssl_close(ours.ssl, &error);
	disk_power(1, KEPT_NONE);
}

void must_refuse(const char *name)
{
	struct ssl *ssl;
	struct error error;

	check(!ssl_open(name, flags, &options, &ssl, &error), "refused");
	check(strchr(error.text, '\n') == NULL, "one line");
	puts(error.text);
}

void must_recover(const char *name)
{
	struct ssl *ssl;
	struct error error;

	if (!ssl_open(name, flags, &options, &ssl, &error))
		check(false, error.text);
	check(ssl_stats(ssl).replayed > 0, "replayed");
	check(load_hash(ssl_db(ssl), false) == acknowledged, "all that was acknowledged is there");
	check(ssl_close(ssl, &error), "closed");
}

/* Changes a number of both headers, and makes them whole again. */
static void change_headers(int at, uint8_t byte)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find("disk");
	sqlite3_file *file = malloc((size_t)vfs->szOsFile);

	vfs->xOpen(vfs, log_name, file, SQLITE_OPEN_READWRITE, NULL);
	for (int slot = 0; slot < 2; slot++) {
		uint8_t header[LOG_HEADER];
		int check = log_kind.header - 4;

		file->pMethods->xRead(file, header, log_kind.header, slot * 512);
		header[at] = byte;
		put32(header + check, crc32c(0, header, (size_t)check));
		file->pMethods->xWrite(file, header, log_kind.header, slot * 512);
	}
	file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
	file->pMethods->xClose(file);
	free(file);
}

void changed(int at, uint8_t byte)
{
	make_live("a.db");
	disk_copy(log_name, "kept");
	change_headers(at, byte);
	must_refuse("a.db");
	disk_copy("kept", log_name);
	must_recover("a.db");
}

void scene_begin(void)
{
	ssl_defaults(&options);
	snprintf(log_name, sizeof(log_name), "a.db%s", log_kind.suffix);
	snprintf(other_log, sizeof(other_log), "b.db%s", log_kind.suffix);
	disk_register();
}
