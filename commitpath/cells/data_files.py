"""Load a YAML data file (observer, figure, …) and check it against a part of experiments/schema.yml."""

import functools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from base.data import load_mapping
from base.errors import BadInputError
from base.schema import schema


def load(path: Path, kind: str) -> dict[str, Any]:
    """Load a data file that fits $defs.KIND of the schema. Raises BadInputError."""
    content = load_mapping(path)
    check_kind(path, content, kind)
    return content


def check_kind(path: Path, content: Any, kind: str) -> None:
    """Check a data file's content against $defs.KIND of the schema. Raises BadInputError."""
    parts = schema()["$defs"]
    check(path, content, {**parts[kind], "$defs": parts}, f"experiments/schema.yml, $defs.{kind}")


@functools.cache
def validator() -> Any:
    """Return the class that checks; loaded late, as many commands check no data file."""
    import jsonschema

    # JSON Schema takes 2.0 for an integer, and .nan and .inf for numbers; a device's attribute file does not
    own = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda _, value: isinstance(value, int) and not isinstance(value, bool),
            "number": lambda _, value: (
                isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            ),
        }
    )
    return jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=own)  # type: ignore[no-untyped-call]


def check(path: Path, content: Any, part: Mapping[str, Any], where: str) -> None:
    """Check a data file's content against a JSON Schema. where: the schema's place. Raises BadInputError."""
    for error in validator()(part).iter_errors(content):
        key = ".".join(str(part) for part in error.absolute_path) or "file"
        wrong = error.message
        if error.validator in ("minimum", "maximum") and "maximum" in error.schema:
            bounds = error.schema
            wrong = f"{error.instance} is not allowed, only {bounds['minimum']} to {bounds['maximum']}"
        raise BadInputError(f"{path}: {key}: {wrong} ({where})")
