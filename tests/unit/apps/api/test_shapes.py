"""Serializers that are made of the dataclasses of resources and pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal

import pytest

from apps.api.endpoint import body_of
from apps.api.errors import BodyInvalidError
from apps.api.shapes import answer_of, changed_to, one_of, serializer_of
from apps.pages.page_json import As, Named, OnPage, Spread, in_json
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.pages.request.parameters import UnknownParameterError
from tests.support import cases


@dataclass(frozen=True, slots=True)
class Place:
    column: str
    offset: int | None


@dataclass(frozen=True, slots=True)
class Told:
    secret: str

    def describe(self) -> dict[str, Any]:
        return {"said": self.secret}


def _length(text: str) -> int:
    return len(text)


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes:
        at: When.
    """

    at: datetime
    figure: OnPage[str]
    size_bytes: Annotated[int, Named("size")]
    text: Annotated[str | None, As(_length)]
    place: Spread[Place | None]
    places: Sequence[Place]
    values: Mapping[str, float]
    told: Told

    @in_json
    def number(self) -> int:
        """A number."""
        return 1


def test_an_answer_has_the_keys_of_the_json_form():
    fields = answer_of(Page)().fields

    assert [*fields] == [
        *("at", "size", "text", "column", "offset", "places", "values", "told"),
        "number",
    ]
    kinds = {name: type(one).__name__ for name, one in fields.items()}
    assert kinds["at"] == "DateTimeField"
    assert (kinds["text"], fields["text"].allow_null) == ("IntegerField", True)
    assert (kinds["column"], fields["column"].allow_null) == ("TextField", True)
    assert (kinds["places"], kinds["told"]) == ("IterableField", "MappingField")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    name: str
    where: Place | None = None
    size: float = 0.0
    columns: tuple[str, ...] = ()
    values: Mapping[str, str | None] = field(default_factory=dict)
    way: Literal["up", "down"] = "up"
    schedule: str | None = one_of(("1h", "1d"))


class TestABody:
    def test_becomes_its_dataclass_just_as_it_was_sent(self):
        read = body_of(
            {
                "name": " a ",
                "where": {"column": "", "offset": 3},
                "columns": ["x"],
                "values": {"k": None},
                "schedule": "1d",
            },
            Wanted,
        )

        assert read == Wanted(
            name=" a ",
            where=Place("", 3),
            columns=("x",),
            values={"k": None},
            schedule="1d",
        )

    @cases(
        "wrong",
        {
            "without what it needs": {},
            "infinite": {"name": "a", "size": "inf"},
            "longer than a page's text": {"name": "a" * 10_001},
            "within": {"name": "a", "values": {"k": "a" * 10_001}},
            "none of the words": {"name": "a", "way": "left"},
            "none of the schedules": {"name": "a", "schedule": "2h"},
            "none of them, at length": {"name": "a", "way": "left" * 9_000},
            "a number": 3,
        },
    )
    def test_is_refused(self, wrong: object):
        with pytest.raises(BodyInvalidError) as caught:
            body_of(wrong, Wanted)
        assert len(str(caught.value)) < 400

    def test_within_another_has_no_unknown_keys_either(self):
        wrong = {"name": "a", "where": {"columns": "", "offset": 1}}

        with pytest.raises(UnknownParameterError, match="'column'"):
            body_of(wrong, Wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    name: str | Unchanged = UNCHANGED
    limit: int | Unchanged | None = UNCHANGED
    places: list[Place] | Unchanged | None = UNCHANGED
    every: str | Unchanged = changed_to(("1h", "1d"))  # noqa: RUF009 (a field)
    maybe: str | Unchanged | None = changed_to(("x",), is_removable=True)  # noqa: RUF009 (a field)


class TestAnUpdate:
    @cases(
        "sent",
        {
            "nothing": {},
            "a text": {"name": ""},
            "a number": {"limit": 3},
            "null": {"limit": None, "places": None, "maybe": None},
            "a word": {"every": "1d", "maybe": "x"},
        },
    )
    def test_has_what_was_sent_and_nothing_else(self, sent):
        assert body_of(sent, Change) == Change(**sent)

    def test_has_parts_of_their_type(self):
        read = body_of({"places": [{"column": "x", "offset": 1}]}, Change)

        assert read == Change(places=[Place("x", 1)])

    @cases(
        "wrong",
        {
            "null of a name": {"name": None},
            "null of a word": {"every": None},
            "a number that is a text": {"limit": "x"},
            "the mark": {"name": ["UNCHANGED"]},
        },
    )
    def test_refuses_null_where_nothing_can_be_removed(self, wrong):
        with pytest.raises(BodyInvalidError):
            body_of(wrong, Change)

    def test_is_described_without_its_mark(self):
        fields = serializer_of(Change)().fields

        assert not any(one.required for one in fields.values())
        assert {name for name, one in fields.items() if one.allow_null} == {
            *("limit", "places", "maybe")
        }
