/* For --writers 2: runs the driver's transactions and those of a second connection in a thread, on
 * one database; counts each one's SQLITE_BUSY and waits for the lock, and writes commits.csv. */
#pragma once

#include "engine.h"

/* The second writer's rows: ids from 1, each with --value-size times 'x'
 * (model/expected_state/oracle.py). */
#define WRITERS_TABLE "second_writer"

/* Makes the second writer's table and connection. Its thread begins with the first commit. */
bool writers_open(struct database *database, struct error *error);

/* Executes what was rendered last, with the lock of a writer from its beginning on. */
bool writers_commit(struct database *database, struct outcome *outcome, struct error *error);

/* Stops the second writer, if there is one, after the transaction that it is in. */
void writers_stop(struct database *database);

/* The same, and closes its connection. Returns false if it failed. */
bool writers_close(struct database *database, struct error *error);

/* Writes commits.csv: each transaction of both; nothing without a second writer. */
void writers_write(const char *directory);

/* Writes what both did as a member of config.json; nothing without a second writer. */
void writers_report(struct json *json);
