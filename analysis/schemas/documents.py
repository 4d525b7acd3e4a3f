"""Validate a run's JSON documents (summary, manifest, host, plan, config, run) by schema.yml."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastjsonschema
import yaml

from base.strict_json import UnfitError
from model import engines

SCHEMA = Path(__file__).parents[1] / "schema.yml"
# longest message of an error, in characters: a key may have any length
LONGEST = 300


Validator = Callable[[Any], Any]


def validator(schema: dict[str, Any]) -> Validator:
    """Compile a JSON Schema (draft 7) into a function that raises UnfitError."""
    compiled = fastjsonschema.compile(schema, use_default=False)

    def check(value: Any) -> None:
        try:
            compiled(value)
        except fastjsonschema.JsonSchemaValueException as error:
            message = error.message.removeprefix("data").removeprefix(".").strip()
            raise UnfitError(message if len(message) <= LONGEST else f"{message[:LONGEST]}…") from None

    return check


@functools.cache
def _schema() -> dict[str, Any]:
    """Return schema.yml extended by the keys of each engine."""
    # libyaml takes a tenth of the time of PyYAML; it must only read trusted files
    schema: dict[str, Any] = yaml.load(SCHEMA.read_text(encoding="utf-8"), yaml.CSafeLoader)
    manifest = schema["$defs"]["manifest"]
    manifest["properties"] |= {name: {"$ref": "#/$defs/engine"} for name in engines.names()}
    manifest["oneOf"] = [
        {"required": ["engine", name], "properties": {"engine": {"const": name}}} for name in engines.names()
    ]
    config = schema["$defs"]["config"]["properties"]
    for engine in engines.names():
        config[engine] = {"$ref": "#/$defs/release"}
        config[engines.by_name(engine).PROPERTIES] = {"$ref": "#/$defs/pairs"}
        config["databases"]["items"]["properties"][engines.by_name(engine).PROPERTIES] = {
            "$ref": "#/$defs/pairs"
        }
    return schema


@functools.cache
def _document(name: str) -> Validator:
    return validator({**_schema(), "$ref": f"#/$defs/{name}"})


def check(name: str, value: Any) -> None:
    """Check a value against `name` in "$defs" of schema.yml. Raises UnfitError."""
    _document(name)(value)
