"""Load YAML files, with limits on size, depth and aliases; errors name the file and the line."""

import stat
from pathlib import Path
from typing import Any

import yaml

from base.errors import BadInputError

# Largest YAML file accepted, in bytes; the largest here has 30 KiB.
YAML_BYTES = 2**20
# Deepest nesting accepted; the deepest here is 12.
YAML_DEPTH = 100
# Most values accepted, with the contents of an alias counted at each use.
YAML_VALUES = 2**20


def parse(text: str) -> Any:
    """Return the content of YAML text.

    Raises YAMLError, ValueError or RecursionError for invalid YAML, duplicate keys, or aliases that
    expand beyond the limits. libyaml's loader is seven times as fast as PyYAML's own, but recurses
    without a limit, so the depth is checked first. What it rejects is read again by PyYAML's loader,
    which accepts a little more (`{kernel:}`) and names the fault.
    """
    depth = 0
    try:
        for event in yaml.parse(text, yaml.CSafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > YAML_DEPTH:
                raise ValueError("too deep")
        return _loaded(yaml.CSafeLoader(text))
    except yaml.YAMLError:
        return _loaded(yaml.SafeLoader(text))


def _loaded(loader: yaml.SafeLoader | yaml.CSafeLoader) -> Any:
    try:
        if (node := loader.get_single_node()) is None:
            return None
        _measured(node, {})
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _measured(node: yaml.Node, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Return (values, depth) of a node with its aliases expanded; known: results by node id."""
    if id(node) in known:
        return known[id(node)]
    # an alias to a node that contains it finds this
    known[id(node)] = YAML_VALUES, YAML_DEPTH
    inner: list[yaml.Node] = []
    if isinstance(node, yaml.SequenceNode):
        inner = node.value
    elif isinstance(node, yaml.MappingNode):
        names = set()
        for key, value in node.value:
            inner += key, value
            if not isinstance(key, yaml.ScalarNode):
                continue
            if (name := (key.tag, key.value)) in names:
                raise yaml.MarkedYAMLError(problem=f"{key.value} is there twice", problem_mark=key.start_mark)
            names.add(name)
    each = [_measured(child, known) for child in inner]
    size, depth = 1 + sum(count for count, _ in each), 1 + max((levels for _, levels in each), default=0)
    if size > YAML_VALUES or depth > YAML_DEPTH:
        raise ValueError("aliases in it stand for too much")
    known[id(node)] = size, depth
    return size, depth


def load_yaml(path: Path) -> Any:
    """Return the content of a YAML file; BadInputError names the file and line."""
    try:
        status = path.stat()
        # opening a FIFO would block, and a device may have no end
        if not stat.S_ISREG(status.st_mode) or status.st_size > YAML_BYTES:
            raise BadInputError(f"{path}: not a file of at most {YAML_BYTES} bytes")
        return parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line_number = error.object.count(b"\n", 0, error.start) + 1
        raise BadInputError(f"{path}:{line_number}: not UTF-8") from error
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f":{where.line + 1}" if where else ""
        fault = getattr(error, "problem", None) or "not YAML"
        raise BadInputError(f"{path}{line}: {fault}") from error
    except (ValueError, RecursionError) as error:
        # an impossible date, a number with thousands of digits, or lists nested too deeply
        fault = "too deep" if isinstance(error, RecursionError) else str(error)
        raise BadInputError(f"{path}: {fault}") from error


def load_mapping(path: Path) -> dict[str, Any]:
    """Return the content of a YAML file that must be a mapping; BadInputError otherwise."""
    content = load_yaml(path)
    if not isinstance(content, dict):
        raise BadInputError(f"{path}: must be a mapping: `name: value` lines")
    return content
