/* Transactions as literal SQL. */
#ifndef COMMITPATH_SQLITE_RENDER_H
#define COMMITPATH_SQLITE_RENDER_H

#include "sql.h"

/* Allocates the text's memory and faults it in. */
bool render_open(struct database *database, struct error *error);

/* Frees it. */
void render_close(struct database *database);

#endif
