# Files shared with other engines that are SQLite with a log: everything that does not concern statements. Such an
# engine defines the functions that state.h lists for each kind of log.
LOG_SHARED := atomic.c bytes.c checkpoint.c files.c file_states.c log_file.c medium.c open.c release.c vfs.c vfs_files.c wal_memory.c walfile.c
# only for drivers
LOG_DRIVER := driver.c driver_stats.c engine.c
