/* Logging of statements that a program executes by SQLite's own calls, on an adopted connection. */
#ifndef COMMITPATH_SSL_PLAIN_H
#define COMMITPATH_SSL_PLAIN_H

#include "state.h"

/* Starts recording those that can be logged. */
int plain_connect(struct ssl *ssl);

#endif
