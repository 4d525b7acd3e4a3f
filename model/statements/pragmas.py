"""What becomes of a program's PRAGMAs when its statements are recorded (docs/how-to/trace.md)."""

from model.statements import sqlfile

# They change which rows statements leave, or are work that a program gives SQLite: a trace has them.
RECORDED = (
    sqlfile.ALLOWED
    - {"index_info", "index_list", "table_info", "table_list", "table_xinfo"}
    - {*("foreign_key_check", "integrity_check", "quick_check")}
)
# They change what statements cost, write or leave, and are a cell's: the axis that sets them.
SETTINGS = {
    **{
        name: name
        for name in (
            *("cache_size", "journal_mode", "journal_size_limit", "page_size", "synchronous"),
            "wal_autocheckpoint",
        )
    },
    "default_cache_size": "cache_size",
}
# They change the same, and a cell has SQLite's default.
DEFAULTS = frozenset(
    {
        *(
            "auto_vacuum",
            "cache_spill",
            "checkpoint_fullfsync",
            "encoding",
            "fullfsync",
            "incremental_vacuum",
        ),
        *("legacy_alter_table", "legacy_file_format", "locking_mode", "max_page_count"),
        "mmap_size",
        *("schema_version", "secure_delete", "temp_store", "temp_store_directory", "threads"),
        *("analysis_limit", "data_store_directory", "trusted_schema", "writable_schema"),
    }
)
# They change neither: how long a program waits, what it may do, what it is told.
NOTHING = frozenset(
    {
        *("busy_timeout", "cell_size_check", "collation_list", "compile_options", "count_changes"),
        *("data_version", "database_list", "empty_result_callbacks", "foreign_key_list", "freelist_count"),
        *("full_column_names", "function_list", "hard_heap_limit", "index_xinfo", "module_list"),
        *("page_count", "parser_trace", "pragma_list", "query_only", "read_uncommitted"),
        *("short_column_names", "shrink_memory", "soft_heap_limit", "sql_trace", "stats", "vdbe_addoptrace"),
        *("vdbe_debug", "vdbe_eqp", "vdbe_listing", "vdbe_trace", "lock_status"),
        *sqlfile.ALLOWED - RECORDED,
    }
)
# Those that are a setting only where they are given a value; the others do something as they are.
_DOES = frozenset({"incremental_vacuum", "optimize", "wal_checkpoint"})


def known() -> frozenset[str]:
    """Return the names of all."""
    return RECORDED | SETTINGS.keys() | DEFAULTS | NOTHING


def parsed(sql: str) -> tuple[str, str, str] | None:
    """Return the schema, name and value of a PRAGMA, in small letters; None of another statement."""
    words = [word.strip("\"'`[]").lower() for word in sqlfile.first_words(sql)]
    if words[:1] != ["pragma"] or len(words) < 2:
        return None
    schema, rest = (words[1], words[3:]) if words[2:3] == ["."] else ("", words[1:])
    value = "".join(word for word in rest[1:] if word not in ("=", "(", ")", ";"))
    return schema, (rest or [""])[0], value


def left_out(sql: str) -> str | None:
    """Return how a PRAGMA is called that a trace does not have; None of one that it has, and of others.

    One that only asks for a setting is as one that changes nothing.
    """
    if (found := parsed(sql)) is None:
        return None
    schema, name, value = found
    if schema not in ("", "main", "temp"):
        return f"PRAGMA {schema}.{name}"
    asks = not value and name not in _DOES
    if name in RECORDED and not asks:
        return None
    return f"PRAGMA {name}={value}" if value and name not in NOTHING else f"PRAGMA {name}"


def axis(words: str) -> str:
    """Return the axis that sets what was left out under those words, if there is one."""
    name, _, value = words.removeprefix("PRAGMA ").partition("=")
    return SETTINGS.get(name, "") if value else ""


def is_default(words: str) -> bool:
    """Whether what was left out under those words changes what a cell has SQLite's default of."""
    name, _, value = words.removeprefix("PRAGMA ").partition("=")
    return name in DEFAULTS and bool(value or name in _DOES)
