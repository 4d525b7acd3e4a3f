"""Are a stored run's documents (summary, manifest, host, plan, config, run) what they should be?"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastjsonschema
import yaml

from base.strict_json import UnfitError
from model import engines

SCHEMA = Path(__file__).parents[1] / "schema.yml"
# characters of what is wrong: a key has any number
TOLD = 300


Validator = Callable[[Any], Any]


def validator(schema: dict[str, Any]) -> Validator:
    """Compile a JSON Schema (draft 7); what it returns raises UnfitError."""
    compiled = fastjsonschema.compile(schema, use_default=False)

    def check(value: Any) -> None:
        try:
            compiled(value)
        except fastjsonschema.JsonSchemaValueException as error:
            said = error.message.removeprefix("data").removeprefix(".").strip()
            raise UnfitError(said if len(said) <= TOLD else f"{said[:TOLD]}…") from None

    return check


def _of_engine(name: str) -> dict[str, Any]:
    """What a manifest of a run of that engine must have."""
    return {"required": ["engine", name], "properties": {"engine": {"const": name}}}


@functools.cache
def _schema() -> dict[str, Any]:
    """Return schema.yml with what it must say of each engine."""
    # libyaml's reader takes a tenth of the time of PyYAML's own; for it a file must be one that is trusted
    schema: dict[str, Any] = yaml.load(SCHEMA.read_text(encoding="utf-8"), yaml.CSafeLoader)
    manifest = schema["$defs"]["manifest"]
    manifest["properties"] |= {name: {"$ref": "#/$defs/engine"} for name in engines.names()}
    manifest["oneOf"] = [_of_engine(name) for name in engines.names()]
    config = schema["$defs"]["config"]["properties"]
    for engine in engines.names():
        config[engine] = {"$ref": "#/$defs/release"}
        config[engines.of(engine).PROPERTIES] = {"$ref": "#/$defs/pairs"}
        config["databases"]["items"]["properties"][engines.of(engine).PROPERTIES] = {"$ref": "#/$defs/pairs"}
    return schema


@functools.cache
def _document(name: str) -> Validator:
    return validator({**_schema(), "$ref": f"#/$defs/{name}"})


def check(name: str, value: Any) -> None:
    """Hold a value against `name` of schema.yml, "$defs". Raises UnfitError."""
    _document(name)(value)
