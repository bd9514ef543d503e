"""Metrics and parameters are read however they are spelled."""

from typing import Any

from deltaweb.index.history.sentences.commit_facts import Facts, shorten
from tests.support import cases


class TestFacts:
    @cases(
        "value, number",
        {
            "text": ("41", 41),
            "number": (41, 41),
            "zero is told": (0, 0),
            "negative": (-1, None),
            "boolean": (True, None),
            "fraction": (1.5, None),
            "endless digits": ("4" * 400, None),
            "digits of another script": ("٤", None),
            "list": ([1], None),
            "null": (None, None),
        },
    )
    def test_reads_whole_numbers(self, value: Any, number: int | None) -> None:  # noqa: ANN401 (any JSON)
        assert Facts({"numFiles": value}).number("num_files") == number

    def test_takes_the_first_name_that_tells(self) -> None:
        facts = Facts({"num_removed_files": 3, "numFilesRemoved": None})

        assert facts.number("numFilesRemoved", "numRemovedFiles") == 3

    @cases(
        "value, parsed",
        {
            "JSON in a text": ('["a"]', ["a"]),
            "JSON": (["a"], ["a"]),
            "other text": ("a = 1", "a = 1"),
            "JSON that nests too deep": ("[" * 15_000, "[" * 15_000),
        },
    )
    def test_unpacks_json(self, value: Any, parsed: Any) -> None:  # noqa: ANN401 (any JSON)
        assert Facts({"x": value}).parsed("x") == parsed


class TestShorten:
    def test_cuts_long_text_with_a_mark(self) -> None:
        assert shorten("x" * 500) == "x" * 119 + "…"

    def test_makes_one_line(self) -> None:
        assert shorten("a\n\tb\x00c") == "a b c"


def test_words_are_made_once_of_each_value() -> None:
    asked: list[object] = []

    def word(value: object) -> str:
        asked.append(value)
        return f"<{value}>"

    facts = Facts({"predicate": '["a"]', "other": 5})

    said = [facts.worded((name,), word) for name in ("predicate", "other") * 2]

    assert said == ["<['a']>", "<5>"] * 2
    assert asked == [["a"], 5]
