"""What any database takes, made of what any log holds."""

import json
from typing import Any

from deltaweb.delta.log.commits.provenance import load_object
from deltaweb.index.history.stored_values import (
    bounded_json,
    bounded_names,
    bounded_text,
    bounded_texts,
    clean_text,
)
from tests.support import cases


class TestCleanText:
    @cases(
        "text, cleaned",
        {
            "NUL": ("a\0b", "a\ufffdb"),
            "a lone surrogate": ("a\ud800b", "a?b"),
            "anything else stays": ("Ł 😀", "Ł 😀"),
        },
    )
    def test_replaces_what_databases_refuse(self, text: str, cleaned: str) -> None:
        assert clean_text(text) == cleaned


class TestBoundedJson:
    @cases(
        "value, stored",
        {
            "not a number": (float("nan"), "nan"),
            "an endless integer": (10**5000, "∞"),
            "nested texts": ({"\0": ["\ud800"]}, {"\ufffd": ["?"]}),
            "a long stays exact": (2**60, 2**60),
        },
    )
    def test_says_odd_values_as_text(self, value: Any, stored: Any) -> None:  # noqa: ANN401 (any JSON)
        assert json.loads(bounded_json({"x": value})) == {"x": stored}

    def test_keeps_the_start_of_what_is_too_long(self) -> None:
        text = bounded_json({f"key{n}": "x" * 5000 for n in range(100)})

        assert len(text) < 64_000
        assert json.loads(text)["key0"] == "x" * 500

    def test_ends_deep_nesting(self) -> None:
        value: list[Any] = []
        for _ in range(900):
            value = [value]

        assert "…" in bounded_json({"x": value})


class TestWhatALogNames:
    def test_a_description_is_cut(self) -> None:
        assert bounded_text("x" * 10_000_000) == "x" * 64_000

    def test_of_very_many_names_the_first_are_kept(self) -> None:
        names = bounded_names(f"column_{number:06d}" for number in range(300_000))

        assert names[:2] == ["column_000000", "column_000001"]
        assert len(names) < 10_000

    def test_a_few_are_kept_as_they_are(self) -> None:
        assert bounded_names(["a", "b\0"]) == ["a", "b\ufffd"]


class TestBoundedTexts:
    @cases(
        "odd",
        {
            "an empty object": {},
            "any Unicode": {"é": "😀"},
            "NUL": {"a": "\0"},
            "a lone surrogate": {"a\ud800": 1},
            "no number": {"a": float("inf"), "b": "NaN"},
            "too long": {"a": "x" * 70_000},
            "brackets in a text": {"a": "[" * 50},
            "an endless integer": {"a": 10**4000},
            "too deep": json.loads('{"a":' * 60 + "1" + "}" * 60),
        },
    )
    def test_say_what_the_text_of_each_object_says(self, odd: dict[str, Any]) -> None:
        objects: list[dict[str, Any]] = [{"n": n, "list": [n]} for n in range(9)]
        objects[7] = odd
        texts = [json.dumps(one).encode() for one in objects]

        stored = bounded_texts(texts).to_pylist()

        assert [*map(json.loads, stored)] == [
            json.loads(bounded_json(load_object(text))) for text in texts
        ]
        assert max(map(len, stored)) <= 64_000
        assert clean_text("".join(stored)) == "".join(stored)

    def test_stay_as_they_are_where_nothing_is_odd(self) -> None:
        texts = [b'{"b":1,  "a":"\xc3\xa9"}', b"{}"]

        assert bounded_texts(texts).to_pylist() == [text.decode() for text in texts]
