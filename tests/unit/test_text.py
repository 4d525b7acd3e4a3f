"""Text for a terminal: lines of a width, names made printable."""

from base.text import filled, filled_lines, in_any_case


def test_an_empty_text_keeps_its_head() -> None:
    assert filled("", first="  kernel  ") == ["  kernel"]
    assert filled("") == []
    assert filled_lines([]) == ""


def test_a_line_break_within_a_text_is_shown() -> None:
    assert filled_lines(["x\ny.svg"]) == "x\\ny.svg"


def test_of_two_names_that_differ_in_case_alone_the_given_one_is_taken() -> None:
    assert in_any_case("quick Quick Other", ["quick", "Quick", "other"]) == "quick Quick other"
