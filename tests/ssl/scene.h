/* Things that happen to a database with a log, on a disk in memory (disk.h). A scene prints what is
 * said of it, and ends the program with status 1 if it does not go as it must. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "disk.h"
#include "load.h"

struct scene {
	const char *name; /* NULL: behind the last one */
	void (*play)(void);
	/* Without it: this byte of both of the log's headers is another, and they are whole. The
	 * log is refused, and recovered with what it was. */
	int at;
	uint8_t byte;
};

/* Those of one kind of log alone: scenes_statements.c or scenes_pages.c. */
extern const struct scene own_scenes[];
void damaged_bytes(void); /* scene_damaged.c */
/* scenes_power.c, of a statement log */
void hole(void);
void stale(void);
void unsynced(void);

/* Words behind the scene's name, ended by NULL. */
extern char **scene_words;

/* To open with; options may be changed. */
extern const int flags;
extern struct ssl_options options;
extern char log_name[16], other_log[16]; /* of a.db and b.db */
extern uint64_t acknowledged;		 /* load_hash of what make_live made last */

void check(bool good, const char *what);

/* Opens a database, executes a text, closes it; each must succeed. */
struct ssl *scene_open(const char *name);
void scene_run(struct ssl *ssl, const char *sql);
void scene_close(struct ssl *ssl);
/* Cuts the power, which is back afterwards. */
void scene_crash(struct ssl *ssl, enum kept kept);

/* Opens a.db; fresh: with the tables of load.h and a checkpoint. */
void open_target(struct target *ours, bool fresh);
/* A database whose log has transactions, and power that was cut. */
void make_live(const char *name);
/* An opening is refused in one line, which is printed. */
void must_refuse(const char *name);
/* It is recovered, with all that is acknowledged, and closed. */
void must_recover(const char *name);
