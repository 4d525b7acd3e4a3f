/* The table of the driver's own options: name, range, default and help of each. Add one here, and
 * nowhere else but in struct options. */
#include "distribution.h"
#include "options.h"
#include "workload.h"

/* A literal statement carries the value, and SQLite before 3.31 was often
 * built with a limit of 1 000 000 bytes for a statement. */
#define MAX_VALUE_SIZE 900000

/* An hour. */
#define MAX_PACE_NS INT64_C(3600000000000)

/* SQLite's variables in a statement, by default before 3.32: an app's batch has as many rows. */
#define MAX_BATCH 999

static const char *const insert_orders[] = {[ORDERED] = "ordered", [HASHED] = "hashed", NULL};
static const char *const size_distributions[] = {
	[CONSTANT_SIZES] = "constant", [ZIPFIAN_SIZES] = "zipfian", NULL};

const struct option option_table[] = {
	{RECORDED("workload", workload), WORD("NAME", workload_names), .preset = "apsys17",
	 .at_populate = true, .help = "what to run"},
	{RECORDED("file", file), TEXT("PATH"), .preset = "", .at_populate = true,
	 .help = "file with a user's transactions (workloads/sql.c, workloads/requests.c)"},
	{OPTION("phases", phases), TEXT("NAMES"), .preset = "",
	 .help = "those of the workload to run, separated by commas; not given: all"},
	{RECORDED("rows", rows), INTEGER("ROWS", 0, 1000000000), .at_populate = true,
	 .help = "rows in the table before the first phase"},
	{RECORDED("n", n), INTEGER("COUNT", 1, 10000000), .preset = "1000",
	 .help = "transactions per phase"},
	{RECORDED("value-size", value_size), INTEGER("BYTES", 1, MAX_VALUE_SIZE), .preset = "3072",
	 .at_populate = true, .help = "bytes of each value"},
	{RECORDED("mix", mix), TEXT("SHARES"), .preset = "",
	 .help = "per cent of each kind of operation, as read=95,insert=5, of a workload that "
		 "mixes"},
	{RECORDED("request-distribution", request_distribution),
	 WORD("WORD", request_distributions), .preset = "uniform",
	 .help = "of a mix: which records are requested"},
	{RECORDED("insert-order", insert_order), WORD("WORD", insert_orders), .preset = "ordered",
	 .at_populate = true, .help = "of a mix: keys of records in the order of their inserts"},
	{RECORDED("value-size-distribution", value_size_distribution),
	 WORD("WORD", size_distributions), .preset = "constant", .at_populate = true,
	 .help = "of a mix: --value-size bytes each, or 64 to that by Zipf's law"},
	{RECORDED("batch", batch), INTEGER("COUNT", 1, MAX_BATCH), .preset = "1",
	 .help = "of a mix: operations per transaction, all of one kind"},
	{RECORDED("seed", seed), INTEGER("NUMBER", 0, INT64_MAX), .preset = "1",
	 .help = "of the generator that picks the rows"},
	{RECORDED("database", database), TEXT("PATH"), .at_populate = true,
	 .help = "the database: a file, or a folder of an engine that has one"},
	{OPTION("databases", databases), INTEGER("COUNT", 1, MAX_DATABASES), .preset = "1",
	 .at_populate = true,
	 .help = "how many; the second is next to the first, with -2 after the stem of its name"},
	{RECORDED("checkpoint-every", checkpoint_every), INTEGER("COUNT", -1, 10000000),
	 .preset = "-1", .help = "transactions between explicit checkpoints; -1: only at the end"},
	{RECORDED("pace-ns", pace_ns), INTEGER("NS", PACE_RECORDED, MAX_PACE_NS), .preset = "0",
	 .help = "ns from one transaction's start to the next; 0: at once, -1: as --file has it"},
	{OPTION("output-dir", output_dir), TEXT("DIR"),
	 .help = "folder for the result files; made if missing"},
	{OPTION("device-stat", device_stat), TEXT("PATH"), .preset = "",
	 .help = "stat file of the block device, /sys/block/<dev>/stat"},
	{OPTION("drop-caches", drop_caches), TEXT("PATH"), .preset = "",
	 .help = "drop the page cache by /proc/sys/vm/drop_caches first; the database is not "
		 "scanned"},
	{OPTION("announce", announce), TEXT("PATH"), .preset = "",
	 .help = "file or console that gets a line at both ends of the timed region"},
	{OPTION("persistent-memory", persistent), TEXT("DIR"), .preset = "",
	 .help = "folder in persistent memory, for what an engine keeps there"},
	{OPTION("start-on-second", start_on_second), FLAG,
	 .help = "begin the first phase on a whole second of CLOCK_MONOTONIC"},
	{OPTION("vfs-log", vfs_log), FLAG,
	 .help = "write vfs.csv: each open, close, write, sync, truncate and delete of the engine"},
	{OPTION("written", written), TEXT("PATH"), .preset = "",
	 .help = "file that gets a hash of each sector that the engine wrote (written.h), and "
		 "what it stored in persistent memory (stored.h)"},
	{OPTION("record-opening", record_opening), FLAG,
	 .help = "record as --written does until the databases are open: with and without it they "
		 "are opened in the same time"},
	{OPTION("open-on-second", open_on_second), FLAG,
	 .help = "with memory locked, open the databases on a whole second of CLOCK_MONOTONIC, and "
		 "sync the filesystem on another before the run"},
};
const size_t option_count = sizeof(option_table) / sizeof(option_table[0]);
