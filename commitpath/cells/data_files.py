"""Data files, checked against experiments/schema.yml."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema

from base.data import load_mapping
from base.errors import BadInputError
from base.schema import schema

# JSON Schema takes 2.0 for an integer; a device's attribute file does not.
STRICT = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


def load(path: Path, kind: str) -> dict[str, Any]:
    """Return a data file that fits $defs.KIND of the schema. Raises BadInputError with the place."""
    content = load_mapping(path)
    parts = schema()["$defs"]
    check(path, content, {**parts[kind], "$defs": parts}, f"experiments/schema.yml, $defs.{kind}")
    return content


def check(path: Path, content: Any, asks: Mapping[str, Any], where: str) -> None:
    """Hold what a data file has against a JSON Schema. BadInputError says what does not fit.

    where: which schema that is.
    """
    for error in STRICT(asks).iter_errors(content):
        key = ".".join(str(part) for part in error.absolute_path) or "file"
        what = error.message
        if error.validator in ("minimum", "maximum") and "maximum" in error.schema:
            bounds = error.schema
            what = f"{error.instance} is not allowed, only {bounds['minimum']} to {bounds['maximum']}"
        raise BadInputError(f"{path}: {key}: {what} ({where})")
