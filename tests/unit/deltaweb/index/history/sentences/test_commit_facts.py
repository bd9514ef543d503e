"""Metrics and parameters are read however they are spelled."""

from typing import Any

import pytest

from deltaweb.index.history.sentences.commit_facts import Facts, shorten, size_text


class TestFacts:
    @pytest.mark.parametrize(
        ("value", "number"),
        [
            pytest.param("41", 41, id="text"),
            pytest.param(41, 41, id="number"),
            pytest.param(0, 0, id="zero is told"),
            pytest.param(-1, None, id="negative"),
            pytest.param(True, None, id="boolean"),
            pytest.param(1.5, None, id="fraction"),
            pytest.param("4" * 400, None, id="endless digits"),
            pytest.param("٤", None, id="digits of another script"),
            pytest.param([1], None, id="list"),
            pytest.param(None, None, id="null"),
        ],
    )
    def test_reads_whole_numbers(self, value: Any, number: int | None) -> None:  # noqa: ANN401 (any JSON)
        assert Facts({"numFiles": value}).number("num_files") == number

    def test_takes_the_first_name_that_tells(self) -> None:
        facts = Facts({"num_removed_files": 3, "numFilesRemoved": None})

        assert facts.number("numFilesRemoved", "numRemovedFiles") == 3

    @pytest.mark.parametrize(
        ("value", "parsed"),
        [
            pytest.param('["a"]', ["a"], id="JSON in a text"),
            pytest.param(["a"], ["a"], id="JSON"),
            pytest.param("a = 1", "a = 1", id="other text"),
            pytest.param("[" * 15_000, "[" * 15_000, id="JSON that nests too deep"),
        ],
    )
    def test_unpacks_json(self, value: Any, parsed: Any) -> None:  # noqa: ANN401 (any JSON)
        assert Facts({"x": value}).parsed("x") == parsed


class TestShorten:
    def test_cuts_long_text_with_a_mark(self) -> None:
        assert shorten("x" * 500) == "x" * 119 + "…"

    def test_makes_one_line(self) -> None:
        assert shorten("a\n\tb\x00c") == "a b c"


class TestSizeText:
    @pytest.mark.parametrize(
        ("size_bytes", "text"),
        [
            pytest.param(0, "0 B", id="nothing"),
            pytest.param(1023, "1,023 B", id="bytes"),
            pytest.param(1000 << 10, "1,000 KiB", id="four digits of a unit"),
            pytest.param(1536, "1.5 KiB", id="a fraction"),
            pytest.param(150 << 20, "150 MiB", id="three digits need none"),
            pytest.param(1 << 70, "1,024 EiB", id="beyond the last unit"),
        ],
    )
    def test_uses_binary_units(self, size_bytes: int, text: str) -> None:
        assert size_text(size_bytes) == text


def test_words_are_made_once_of_each_value() -> None:
    asked: list[object] = []

    def word(value: object) -> str:
        asked.append(value)
        return f"<{value}>"

    facts = Facts({"predicate": '["a"]', "other": 5})

    said = [facts.worded((name,), word) for name in ("predicate", "other") * 2]

    assert said == ["<['a']>", "<5>"] * 2
    assert asked == [["a"], 5]
