/* Layout of the shared-memory log in which the processes of a command record their database
 * transactions. Every process of the command maps it, and an engine's LD_PRELOAD library
 * (engines/NAME/preload/) adds each transaction: times, thread, pages, rows, database. */
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Environment variable with the log's path. */
#define TRANSACTIONS_VARIABLE "COMMITPATH_TRANSACTIONS"
/* Environment variable with the folder of a recording, used without a log too. */
#define RECORD_VARIABLE "COMMITPATH_RECORD"
#define TRANSACTIONS_MAGIC "CPTRANS2"
/* 64 MiB, allocated as it is written, and 16 MiB of paths. */
#define TRANSACTIONS_MOST (1u << 20)
#define PATHS_MOST (1u << 12)

/* A database's path; duplicates are possible. */
struct path {
	uint8_t whole;	  /* set last */
	uint8_t attached; /* to a connection that counts its transactions under another path */
	char text[PATH_MAX];
};

struct transaction {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC, around the engine's calls */
	uint32_t tid;		   /* the thread that ended it */
	uint32_t pages;		   /* written by the engine to its files */
	uint32_t rows;		   /* inserted, updated and deleted */
	uint8_t rolled_back;
	uint8_t whole; /* set last: otherwise its process died while writing this */
	char op[18];   /* the first word of the statement that began it */
	uint32_t path; /* the main database's index in `paths`; PATHS_MOST: no space was left */
	uint8_t reserved[12];
};

struct transaction_log {
	char magic[8];
	uint64_t next; /* transactions that ended; those from TRANSACTIONS_MOST on are not stored */
	uint64_t processes;	/* that called the engine */
	uint64_t unseen;	/* pages written in calls that the preload does not watch */
	uint64_t unfollowed;	/* connections with state that the preload could not keep or read */
	uint64_t pid_namespace; /* the runner's (namespace_of_pids): in others, thread numbers
				 * differ from those that observers see */
	uint64_t busy;		/* calls that returned SQLITE_BUSY */
	uint64_t sleeps, slept_ns; /* the engine's, until a lock is free */
	uint64_t next_path;	   /* those from PATHS_MOST on are not stored */
	uint64_t reserved[6];
	struct path paths[PATHS_MOST];
	struct transaction transactions[];
};

/* Returns an identifier of the process's PID namespace, 0 if it cannot be read. */
static inline uint64_t namespace_of_pids(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 ? (uint64_t)status.st_ino : 0;
}

_Static_assert(sizeof(struct transaction) == 64, "a transaction has 64 bytes");
_Static_assert(offsetof(struct transaction_log, paths) == 128, "the header has 128 bytes");

#define TRANSACTIONS_BYTES \
	(sizeof(struct transaction_log) + TRANSACTIONS_MOST * sizeof(struct transaction))
