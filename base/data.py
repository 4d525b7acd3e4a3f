"""Data files that people write."""

import stat
from pathlib import Path
from typing import Any

import yaml

from base.errors import BadInputError

# Bytes of a YAML file at most: the largest here has 30 KiB.
YAML_BYTES = 2**20
# Lists and mappings in each other at most: the deepest here has 12.
YAML_DEPTH = 100
# Values at most, those that an alias stands for counted each time.
YAML_VALUES = 2**20


def parse(text: str) -> Any:
    """Content of YAML text. YAMLError, ValueError or RecursionError where it is none, where a name is in a
    mapping twice, or where aliases stand for more than anyone writes.

    libyaml's loader takes a seventh of the time that PyYAML's own takes, but calls itself for each
    list in a list, and nothing stops it before the stack ends. What it refuses is for PyYAML's own to
    read, `{kernel:}` for one, or to name the fault of.
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
    """(values, depth) of a node with all that its aliases stand for; known: of those before it, by id."""
    if id(node) in known:
        return known[id(node)]
    # what it has within itself finds this
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
    each = [_measured(one, known) for one in inner]
    size, depth = 1 + sum(one for one, _ in each), 1 + max((one for _, one in each), default=0)
    if size > YAML_VALUES or depth > YAML_DEPTH:
        raise ValueError("aliases in it stand for too much")
    known[id(node)] = size, depth
    return size, depth


def load_yaml(path: Path) -> Any:
    """Content of a YAML file; BadInputError names the file and line."""
    try:
        status = path.stat()
        # to open a FIFO waits, and a device may have no end
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
        what = getattr(error, "problem", None) or "not YAML"
        raise BadInputError(f"{path}{line}: {what}") from error
    except (ValueError, RecursionError) as error:
        # no such day in a date, a number with thousands of digits, a hundred lists in each other
        what = "too deep" if isinstance(error, RecursionError) else str(error)
        raise BadInputError(f"{path}: {what}") from error


def load_mapping(path: Path) -> dict[str, Any]:
    """Content of a YAML file that is to be names and values; BadInputError where it is not."""
    content = load_yaml(path)
    if not isinstance(content, dict):
        raise BadInputError(f"{path}: must be a mapping: `name: value` lines")
    return content
