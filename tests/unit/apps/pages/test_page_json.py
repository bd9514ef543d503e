import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from types import SimpleNamespace
from typing import Annotated

from apps.pages.page_json import (
    As,
    AsText,
    IfKnown,
    Mark,
    Named,
    OnPage,
    Spread,
    context_of,
    csv_rows,
    from_json,
    in_json,
    json_of,
    shaped,
)
from apps.pages.responses import to_json


@dataclass(frozen=True, kw_only=True)
class File:
    path: str
    size_bytes: Annotated[int, Named("size")]
    url: OnPage[str] = ""


@dataclass(frozen=True, kw_only=True)
class Listing:
    num_files: int
    files: list[File] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class FilesPage:
    title: str
    listing: Spread[Listing | None]
    names: Annotated[Sequence[str] | None, Named("name"), As("/".join)] = None
    owner: Annotated[str, Mark.SPREAD, As(lambda name: {"owner": name})] = "etl"

    @property
    def heading(self) -> str:
        return self.title.upper()

    @in_json
    def length(self) -> int:
        return len(self.title)


class Described:
    def describe(self) -> dict[str, object]:
        return {"file": File(path="a", size_bytes=1)}


def page(listing: Listing | None = None) -> FilesPage:
    return FilesPage(title="files", listing=listing)


class TestJSONOf:
    def test_has_every_field_by_its_name(self) -> None:
        listing = Listing(num_files=1, files=[File(path="a", size_bytes=9, url="/a")])

        assert json_of(page(listing)) == {
            "title": "files",
            "num_files": 1,
            "files": [{"path": "a", "size": 9}],
            "name": None,
            "owner": "etl",
            "length": 5,
        }

    def test_names_what_a_part_that_is_not_there_would_have(self) -> None:
        found = json_of(page())

        assert isinstance(found, dict)
        assert (found["num_files"], found["files"]) == (None, [])

    def test_has_what_a_function_makes_of_a_field(self) -> None:
        found = json_of(FilesPage(title="", listing=None, names=["a", "b"]))

        assert isinstance(found, dict)
        assert found["name"] == "a/b"

    def test_a_value_may_describe_itself(self) -> None:
        assert json_of([Described()]) == [{"file": {"path": "a", "size": 1}}]

    def test_times_and_decimals_become_text(self) -> None:
        values = {"at": datetime(2026, 1, 2, tzinfo=UTC), "sum": Decimal("1.50")}

        assert to_json(values) == '{"at": "2026-01-02T00:00:00Z", "sum": "1.50"}'


class TestContextOf:
    def test_has_the_page_its_fields_and_its_properties(self) -> None:
        shown = page()

        assert context_of(shown) == {
            "page": shown,
            "title": "files",
            "listing": None,
            "names": None,
            "owner": "etl",
            "heading": "FILES",
        }


@dataclass(frozen=True, kw_only=True)
class DailyUse:
    """It has an old name, by the name of its class."""

    day: str
    num_answered: int
    num_refused: int = 0


@dataclass(frozen=True, kw_only=True)
class Owner:
    name: str
    contact: str | None
    tags: list[str]


class TestOldNames:
    def test_stand_beside_the_new_for_a_version(self) -> None:
        use = DailyUse(day="2026-11-20", num_answered=3)

        assert json_of(use) == {
            "day": "2026-11-20",
            "num_answered": 3,
            "num_refused": 0,
            "answered": 3,
            "refused": 0,
        }


class TestShaped:
    def test_takes_what_is_called_alike_and_no_empty_text_for_none(self) -> None:
        row = SimpleNamespace(name="", contact="", id=7)

        owner = shaped(Owner, row, tags=["a"])

        assert owner == Owner(name="", contact=None, tags=["a"])


class TestCSVRows:
    def test_have_a_column_a_key_and_names_by_commas(self) -> None:
        owners = [Owner(name="ana", contact=None, tags=["a", "b"])]

        assert list(csv_rows(Owner, owners)) == [
            ("name", "contact", "tags"),
            ("ana", None, "a, b"),
        ]

    def test_have_their_header_without_a_row(self) -> None:
        assert list(csv_rows(FilesPage, [])) == [
            ("title", "num_files", "files", "name", "length")
        ]


class Kind(StrEnum):
    COLD = "cold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    name: str
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    at: AsText
    kind: Kind
    first: Reading | None
    each: tuple[Reading, ...]
    by_name: Mapping[str, Reading]
    pairs: tuple[tuple[str, int | None], ...] = ()
    note: IfKnown[str | None] = None
    last: IfKnown[Spread[Reading | None]] = None
    url: OnPage[str] = ""


class TestJsonThatIsReadAgain:
    def test_is_equal_at_any_depth(self) -> None:
        made = Readings(
            at=datetime(2026, 11, 29, tzinfo=UTC),
            kind=Kind.COLD,
            first=Reading(name="a", count=1),
            each=(Reading(name="b"),),
            by_name={"c": Reading(name="c")},
            pairs=(("d", None), ("e", 2)),
            last=Reading(name="f", count=3),
        )

        assert from_json(Readings, json.loads(to_json(made))) == made

    def test_has_no_key_of_what_is_not_known(self) -> None:
        made = Readings(
            at=datetime(2026, 11, 29, tzinfo=UTC),
            kind=Kind.COLD,
            first=None,
            each=(),
            by_name={},
        )
        written = json.loads(to_json(made))

        assert not {"note", "name", "count", "url"} & written.keys()
        assert from_json(Readings, written) == made

    def test_may_lack_what_has_a_default_and_have_other_keys(self) -> None:
        assert from_json(Reading, {"name": "a", "more": 1}) == Reading(name="a")

    def test_may_be_a_list(self) -> None:
        assert from_json(list[Reading], [{"name": "a"}]) == [Reading(name="a")]
