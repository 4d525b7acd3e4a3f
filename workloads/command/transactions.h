/* The log of a command's transactions: a file in memory that every process of the command maps, and
 * in which an engine's preload (engines/NAME/preload/) notes each transaction. */
#ifndef COMMITPATH_TRANSACTIONS_H
#define COMMITPATH_TRANSACTIONS_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Names the log's file, in the environment of the command. */
#define TRANSACTIONS_VARIABLE "COMMITPATH_TRANSACTIONS"
/* Names the folder that a recording is written to, which is there without a log, too. */
#define RECORD_VARIABLE "COMMITPATH_RECORD"
#define TRANSACTIONS_MAGIC "CPTRANS2"
/* 64 MiB, of which only what is written takes memory, and 16 MiB of paths. */
#define TRANSACTIONS_MOST (1u << 20)
#define PATHS_MOST (1u << 12)

/* A database's. Two may be alike. */
struct path {
	uint8_t whole;	  /* set last */
	uint8_t attached; /* to a connection, whose transactions have another one */
	char text[PATH_MAX];
};

struct transaction {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC, around the engine's calls */
	uint32_t tid;		   /* the thread that ended it */
	uint32_t pages;		   /* that the engine wrote to its files in it */
	uint32_t rows;		   /* inserted, updated and deleted */
	uint8_t rolled_back;
	uint8_t whole; /* set last: without it its process died while it wrote this */
	char op[18];   /* the first word of the statement that began it */
	uint32_t path; /* of the main database, its place in `paths`; PATHS_MOST: no place was left
			*/
	uint8_t reserved[12];
};

struct transaction_log {
	char magic[8];
	uint64_t next; /* transactions that ended; those from TRANSACTIONS_MOST on are not here */
	uint64_t processes; /* that called the engine */
	uint64_t unseen; /* pages that the engine wrote in calls that the preload does not watch */
	uint64_t unfollowed;	/* connections of which the preload could not keep or learn what it
				   needs */
	uint64_t pid_namespace; /* of the runner (namespace_of_pids): in another one a thread's
				   number is not the one that observers see */
	uint64_t busy;		/* calls that returned SQLITE_BUSY */
	uint64_t sleeps, slept_ns; /* the engine's, until a lock is free */
	uint64_t next_path;	   /* those from PATHS_MOST on are not here */
	uint64_t reserved[6];
	struct path paths[PATHS_MOST];
	struct transaction transactions[];
};

/* By what the process's PID namespace is known, 0 if that cannot be looked at. */
static inline uint64_t namespace_of_pids(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 ? (uint64_t)status.st_ino : 0;
}

_Static_assert(sizeof(struct transaction) == 64, "a transaction has 64 bytes");
_Static_assert(offsetof(struct transaction_log, paths) == 128, "the header has 128 bytes");

#define TRANSACTIONS_BYTES \
	(sizeof(struct transaction_log) + TRANSACTIONS_MOST * sizeof(struct transaction))

#endif
