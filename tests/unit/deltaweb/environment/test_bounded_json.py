"""JSON from outside: as Python reads it, to one depth on every release."""

import json

import pytest

from deltaweb.environment.bounded_json import (
    MAX_DEPTH,
    nests_too_deeply,
    parse_json,
)
from tests.support import cases

DEEP = MAX_DEPTH + 1


@cases(
    "text",
    {
        "lists": "[" * DEEP + "]" * DEEP,
        "objects": '{"a":' * DEEP + "1" + "}" * DEEP,
        "both": '[{"a":' * DEEP + "1" + "}]" * DEEP,
        "what never ends": "[" * 100_000,
        "behind many shallow ones": f"[{'[],' * 5000}{'[' * DEEP}{']' * DEEP}]",
        "behind a text with quotes": '["\\"]]]\\\\",' + "[" * DEEP + "]" * DEEP + "]",
    },
)
@pytest.mark.parametrize("encoding", [None, "utf-8", "utf-16", "utf-32-be"])
def test_what_nests_too_deeply_is_refused_on_every_release(
    text: str, encoding: str | None
) -> None:
    given = text if encoding is None else text.encode(encoding)

    assert nests_too_deeply(given)
    with pytest.raises(RecursionError, match="deeper than 500 levels"):
        parse_json(given)


@cases(
    "text",
    {
        "the last level": "[" * MAX_DEPTH + "]" * MAX_DEPTH,
        "many beside each other": json.dumps([{"a": [index]} for index in range(5000)]),
        "brackets in a text": json.dumps({"a": "[{" * 5000, "b": '"\\' * 600}),
        "a text of a schema": json.dumps({"schemaString": json.dumps([{}] * 1000)}),
        "a number": "1",
        "letters of others": json.dumps(["[" * 600, "Ä∈😀"], ensure_ascii=False),
    },
)
def test_all_else_is_what_python_reads(text: str) -> None:
    expected = json.loads(text)

    assert parse_json(text) == expected
    assert parse_json(text.encode()) == expected
    assert parse_json(text.encode("utf-16")) == expected


@pytest.mark.parametrize("text", ["", "{", "]" * 600, '"' * 601, b"\xff" + b"[]" * 600])
def test_what_is_no_json_is_said_as_python_says_it(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"column|codec|Extra|Expecting"):
        parse_json(text)


def test_options_are_those_of_python() -> None:
    assert parse_json("[1.5, 2]", parse_float=str, parse_int=float) == ["1.5", 2.0]
