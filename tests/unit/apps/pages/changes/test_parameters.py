"""A dataclass of parameters is the arguments of a command, and a form."""

from argparse import ArgumentError, ArgumentParser
from dataclasses import dataclass
from typing import Literal

import pytest

from apps.pages.changes.forms import form_of
from apps.pages.changes.parameters import (
    SERIALIZED,
    Line,
    add_parameters,
    given,
    names_of,
    parameter,
)
from apps.pages.request.changes import UNCHANGED, Unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    column: str = parameter("")
    parts: int | None = parameter(
        None, "--parts", line=Line(label="Parts", least=1, most=4, wrong="1 to 4.")
    )
    by: tuple[str, ...] = parameter((), "--by", type=names_of)
    version: int | None = parameter(
        None, None, line=Line(label="Version", least=0, is_needed=True)
    )
    note: str = parameter("", "--note", line=Line(label="Note", most=5))
    own: str = "of the page alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    theme: Literal["light", "dark"] | Unchanged = parameter(
        UNCHANGED, None, line=Line(label="Theme", is_needed=True)
    )
    colours: list[str] | Unchanged = parameter(UNCHANGED, "--colour", action="append")
    parts: list[str] = parameter(list, "--part", action="append")


def read(*words: str, only: tuple[str, ...] | None = None) -> Asked:
    parser = ArgumentParser(exit_on_error=False)
    add_parameters(parser, Asked, only)
    return Asked(**given(vars(parser.parse_args(words))))


def test_a_command_takes_options_and_what_stands_by_its_place() -> None:
    assert read("day", "--parts", "2", "--by", "a, b,") == Asked(
        column="day", parts=2, by=("a", "b")
    )
    assert read("day") == Asked(column="day")


def test_a_help_names_the_value_of_an_option_by_its_parameter() -> None:
    parser = ArgumentParser()
    add_parameters(parser, Asked)
    assert "--note NOTE" in parser.format_help()
    assert "ASKED" not in parser.format_help()


def test_a_command_may_take_some_alone() -> None:
    assert read("--parts", "3", only=("parts",)) == Asked(parts=3)


@pytest.mark.parametrize("parts", ["0", "5", "x", "-1"])
def test_both_keep_to_the_bounds(parts: str) -> None:
    with pytest.raises((SystemExit, Exception), match=r"whole number|2"):
        read("day", "--parts", parts)
    form = form_of(Asked)({"version": "0", "parts": parts})
    assert not form.is_valid()
    assert set(form.errors) == {"parts"}


def test_both_keep_to_the_length_of_a_text() -> None:
    assert read("day", "--note", "12345").note == "12345"
    with pytest.raises(ArgumentError, match="6 characters, but 5 is the limit"):
        read("day", "--note", "123456")
    form = form_of(Asked)({"version": "0", "note": "123456"})
    assert set(form.errors) == {"note"}


@pytest.mark.parametrize(
    "line",
    [
        Line(label="Names", most=9, splits=str.split),
        Line(label="Names", most=9, is_boxes=True),
    ],
)
def test_the_length_of_a_field_is_not_the_number_of_its_texts(line: Line) -> None:
    found = parameter(list, None, line=line)

    assert found.metadata[SERIALIZED] == {}


def test_a_form_has_the_parameters_that_have_a_line() -> None:
    form = form_of(Asked)({"version": "7"})

    assert form.is_valid()
    assert form.cleaned_data == {"note": "", "parts": None, "version": 7}
    assert form.fields["parts"].label == "Parts"
    assert not form_of(Asked)({}).is_valid()


@pytest.mark.parametrize(
    ("sent", "found"), [("DARK", "dark"), ("Dark", "dark"), ("pink", ""), ("", "")]
)
def test_a_word_of_a_form_may_have_any_capitals(sent: str, found: str) -> None:
    form = form_of(Looks)({"theme": sent})

    assert form.is_valid() is bool(found)
    assert form.cleaned_data.get("theme", "") == found


def test_an_option_that_is_repeated_can_be_left_out() -> None:
    parser = ArgumentParser()
    add_parameters(parser, Looks)

    assert given(vars(parser.parse_args([]))) == {}
    words = ["--colour", "red", "--colour", "blue"]
    assert given(vars(parser.parse_args(words))) == {"colours": ["red", "blue"]}


def test_a_list_that_is_not_given_is_empty_and_a_new_one_each_time() -> None:
    first, second = Looks(), Looks()

    assert (first.parts, second.parts) == ([], [])
    assert first.parts is not second.parts
