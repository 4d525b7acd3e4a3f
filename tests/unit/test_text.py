"""Text for a terminal: lines of a width, names made printable."""

from base.text import filled, filled_lines


def test_an_empty_text_keeps_its_head() -> None:
    assert filled("", first="  kernel  ") == ["  kernel"]
    assert filled("") == []
    assert filled_lines([]) == ""


def test_a_line_break_within_a_text_is_shown() -> None:
    assert filled_lines(["x\ny.svg"]) == "x\\ny.svg"
