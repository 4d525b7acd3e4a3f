"""How much of another lab's database is taken, and what checking it may cost (docs/results-db.md)."""

GIB = 2**30

# the file
DATABASE_BYTES = 64 * GIB
# rows of a table
ROWS = 10_000_000
# a value of a column but `content`
TEXT_BYTES = 8 * 2**20
# a raw file as an export holds it, as it is, and all of those of an import
PACKED_BYTES = GIB // 2
FILE_BYTES = GIB
ALL_FILES_BYTES = 16 * GIB

# of the process that checks
MEMORY_BYTES = 2 * GIB
CPU_SECONDS = 600
SECONDS = 900
