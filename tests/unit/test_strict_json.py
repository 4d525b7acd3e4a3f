"""base.strict_json refuses texts that are no JSON, or that hold what a document may not; it reads others."""

import json

import pytest

from base import strict_json
from base.strict_json import UnfitError


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[" * 22 + "]" * 22, "more than 20 objects and lists"),
        ("NaN", "NaN is not a JSON number"),
        ("1e400", "too large"),
        ("9223372036854775808", "more than 64 bits"),
        ('{"\\udfff": 1}', "not UTF-8"),
        ('[{"a": {"b": 1, "c": 2, "b": 1}}]', "the name 'b' is in an object twice"),
    ],
)
def test_what_is_no_json_here(text: str, says: str) -> None:
    with pytest.raises(UnfitError, match=says):
        strict_json.parse(text)


@pytest.mark.parametrize(
    "text", ['"\\ud83d\\ude00 \\u00e9"', "-9223372036854775808", "[[[1.5e300]]]", "null", '"\\u0000"']
)
def test_what_is(text: str) -> None:
    assert strict_json.parse(text) == json.loads(text)
