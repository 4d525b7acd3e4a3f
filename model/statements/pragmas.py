"""Classify a program's PRAGMAs for a trace: kept, settings of a cell, at SQLite's default, without effect."""

from model.statements import sqlfile

# They change the resulting rows, or are work for SQLite: a trace has them.
RECORDED = (
    sqlfile.ALLOWED
    - {"index_info", "index_list", "table_info", "table_list", "table_xinfo"}
    - {*("foreign_key_check", "integrity_check", "quick_check")}
)
# They change cost, writes or rows, and are settings of a cell: the axis of each.
SETTINGS = {
    **{name: name for name in ("cache_size", "journal_mode", "journal_size_limit", "page_size")},
    **{name: name for name in ("synchronous", "wal_autocheckpoint", "mmap_size", "auto_vacuum")},
    **{name: name for name in ("secure_delete", "temp_store", "locking_mode", "cache_spill")},
    "default_cache_size": "cache_size",
}
# They change the same, and a cell has SQLite's default.
DEFAULTS = frozenset(
    (
        *("checkpoint_fullfsync", "encoding", "fullfsync"),
        *("incremental_vacuum", "legacy_alter_table", "legacy_file_format"),
        *("max_page_count", "schema_version"),
        *("temp_store_directory", "threads", "analysis_limit", "data_store_directory"),
        *("trusted_schema", "writable_schema"),
    )
)
# They change neither, but how long a program waits, its rights, or what it can read.
NOTHING = frozenset(
    (
        *("busy_timeout", "cell_size_check", "collation_list", "compile_options", "count_changes"),
        *("data_version", "database_list", "empty_result_callbacks", "foreign_key_list", "freelist_count"),
        *("full_column_names", "function_list", "hard_heap_limit", "index_xinfo", "module_list"),
        *("page_count", "parser_trace", "pragma_list", "query_only", "read_uncommitted"),
        *("short_column_names", "shrink_memory", "soft_heap_limit", "sql_trace", "stats", "vdbe_addoptrace"),
        *("vdbe_debug", "vdbe_eqp", "vdbe_listing", "vdbe_trace", "lock_status"),
        *sqlfile.ALLOWED - RECORDED,
    )
)
# They act without a value; the others are then only a query of a setting.
_DOES = frozenset({"incremental_vacuum", "optimize", "wal_checkpoint"})


def parsed(sql: str) -> tuple[str, str, str] | None:
    """Return the schema, name and value of a PRAGMA, in lower case; None for another statement."""
    words = [word.strip("\"'`[]").lower() for word in sqlfile.first_words(sql)]
    if words[:1] != ["pragma"] or len(words) < 2:
        return None
    schema, rest = (words[1], words[3:]) if words[2:3] == ["."] else ("", words[1:])
    value = "".join(word for word in rest[1:] if word not in ("=", "(", ")", ";"))
    return schema, (rest or [""])[0], value


def left_out(sql: str) -> str | None:
    """Return the description of a PRAGMA that a trace omits; None for other statements.

    A query of a setting changes nothing.
    """
    if (words := parsed(sql)) is None:
        return None
    schema, name, value = words
    if schema not in ("", "main", "temp"):
        return f"PRAGMA {schema}.{name}"
    if name in RECORDED and (value or name in _DOES):
        return None
    return f"PRAGMA {name}={value}" if value and name not in NOTHING else f"PRAGMA {name}"


def axis(words: str) -> str:
    """Return the axis of a description by left_out; empty if there is none."""
    name, _, value = words.removeprefix("PRAGMA ").partition("=")
    return SETTINGS.get(name, "") if value else ""


def is_default(words: str) -> bool:
    """Return whether a description by left_out changes a setting for which a cell has SQLite's default."""
    name, _, value = words.removeprefix("PRAGMA ").partition("=")
    return name in DEFAULTS and bool(value or name in _DOES)
