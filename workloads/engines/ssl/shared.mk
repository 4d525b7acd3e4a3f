# What of this folder another engine has that is SQLite with a log of its own, but for driver.c: all
# that is not about statements. That engine defines what state.h says is each kind's own.
LOG_SHARED := atomic.c bytes.c checkpoint.c databases.c files.c found.c log_file.c medium.c memory.c observed.c open.c release.c vfs.c vfs_files.c walfile.c
# what is the driver's alone
LOG_DRIVER := driver.c driver_stats.c engine.c settings.c
