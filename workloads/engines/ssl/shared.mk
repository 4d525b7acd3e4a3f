# Make variables with the C files of the engine ssl that other engines with a log share: all that do not
# concern statements. Such an engine defines the functions that state.h lists for each kind of log.
LOG_SHARED := atomic.c bytes.c checkpoint.c files.c file_states.c log_file.c medium.c open.c release.c vfs.c vfs_files.c wal_memory.c walfile.c
# only for drivers
LOG_DRIVER := driver.c driver_stats.c engine.c
