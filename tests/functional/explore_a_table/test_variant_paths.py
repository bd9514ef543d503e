"""A path of a variant is a typed column of the rows, and may be a condition."""

from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.test import Client

from tests.functional.command_line import Ran
from tests.functional.explore_a_table.pages import TABLE, work
from tests.support.index.indexed_tables import new_sample_table
from tests.support.pages.answers import csv_of, json_of, text_of
from tests.support.tables.variant_tables import TEXTS, USER_ID, ZIP_CODE, write_events

pytestmark = pytest.mark.django_db
DATA = f"{TABLE}events/data"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """The table, whose values are shredded or not."""
    place = tmp_path_factory.mktemp("variants")
    return {
        is_shredded: write_events(place / f"{is_shredded}", shredded=is_shredded)
        for is_shredded in (False, True)
    }


@pytest.fixture(autouse=True)
def events(request: pytest.FixtureRequest, written: dict[bool, Path]) -> Path:
    folder = written[getattr(request, "param", False)]
    new_sample_table("events", folder)
    return folder


def query(*columns: str, **others: str) -> str:
    return urlencode({"col": columns, **others}, doseq=True)


@pytest.mark.parametrize(
    "events", [False, True], ids=["plain", "shredded"], indirect=True
)
class TestRows:
    def test_show_it_beside_other_columns(self, viewer: Client) -> None:
        address = query("id", ZIP_CODE, USER_ID)
        text_of(viewer, f"{DATA}?{address}")
        work()

        page = unescape(text_of(viewer, f"{DATA}?{address}"))
        told = json_of(viewer, f"{DATA}.json?{address}")

        assert f'title="{USER_ID}">{USER_ID}</a><small>bigint</small>' in page
        assert "Columns <span" in page
        assert "1 of 2, 2 paths" in page
        assert [c["name"] for c in told["columns"]] == ["id", ZIP_CODE, USER_ID]
        assert told["rows"][:3] == [
            {"id": "1", ZIP_CODE: "10115", USER_ID: "42"},
            {"id": "2", ZIP_CODE: "10115", USER_ID: "7"},
            {"id": "3", ZIP_CODE: "10115", USER_ID: None},
        ]
        assert (told["num_columns"], told["num_chosen_columns"]) == (2, 1)

    def test_every_column_and_a_path_are_a_file(self, viewer: Client) -> None:
        address = query("*", USER_ID)
        viewer.get(f"{DATA}.csv?{address}")
        work()

        lines = csv_of(viewer, f"{DATA}.csv?{address}")

        assert lines[:2] == [["id", "v", USER_ID], ["1", TEXTS[0], "42"]]
        assert [line[2] for line in lines[1:]] == ["42", "7", "", "100", ""]

    def test_are_filtered_and_sorted_by_the_number(self, viewer: Client) -> None:
        address = query("id", f=f"{USER_ID}:ge:8", sort=f"-{USER_ID}")
        json_of(viewer, f"{DATA}.json?{address}", status=202)
        work()

        told = json_of(viewer, f"{DATA}.json?{address}")
        page = unescape(text_of(viewer, f"{DATA}?{address}"))

        assert told["rows"] == [{"id": "4"}, {"id": "1"}]
        assert f"Remove filter: {USER_ID} ≥ 8" in page
        assert f'<option value="{USER_ID}">' in page
        assert f'value="{USER_ID}" form="choose-columns">' in page

    def test_a_filter_without_a_value_is_of_any_type(self, viewer: Client) -> None:
        address = query("id", f="v:$.note::variant:null")
        json_of(viewer, f"{DATA}.json?{address}", status=202)
        work()

        assert json_of(viewer, f"{DATA}.json?{address}")["rows"] == [{"id": "5"}]

    def test_a_name_in_a_path_may_look_like_a_condition(self, viewer: Client) -> None:
        address = query("id", f="v:$['a:eq:b']::string:null")
        json_of(viewer, f"{DATA}.json?{address}", status=202)
        work()

        assert json_of(viewer, f"{DATA}.json?{address}")["count"] == 5


class TestTheForm:
    @pytest.mark.parametrize(
        ("path", "name"),
        [
            ("$.user.id", "v:$.user.id::bigint"),
            ("user.id", "v:$.user.id::bigint"),
            ("[0]", "v:$[0]::bigint"),
        ],
    )
    def test_adds_a_path_to_the_columns_of_the_address(self, viewer, path, name):
        asked = query("id", "v", v="0", page="2", vc="v", vp=path, vt="bigint")
        response = viewer.get(f"{DATA}?{asked}")

        assert response.status_code == 302
        assert parse_qs(urlsplit(response["Location"]).query) == {
            "col": ["id", "v", name],
            "v": ["0"],
        }

    def test_keeps_the_paths_that_are_shown(self, viewer: Client) -> None:
        page = unescape(text_of(viewer, f"{DATA}?{query('id', USER_ID)}"))

        assert f'value="{USER_ID}" form="choose-columns" checked>' in page
        assert f"col=%2A&col={urlencode({'': USER_ID})[1:]}" in page
        assert '<option value="variant">JSON text</option>' in page


class TestTheRecord:
    def test_leads_to_the_rows_with_a_leaf_as_a_column(self, viewer: Client) -> None:
        text_of(viewer, f"{DATA}/1")
        work()

        page = unescape(text_of(viewer, f"{DATA}/1"))

        for name in (USER_ID, ZIP_CODE, "v:$.on::date", "v:$.note::variant"):
            assert f'href="{DATA}?col=*&col={quoted(name)}"' in page, name
        assert "v:$.user::" not in page

    def test_keeps_the_condition_on_a_path(self, viewer: Client) -> None:
        address = f"{DATA}/2?f={quoted(f'{USER_ID}:ge:8')}"
        text_of(viewer, address)
        work()

        assert json_of(viewer, address.replace("/2?", "/2.json?"))["values"] == {
            "id": "4",
            "v": TEXTS[3],
        }


class TestUse:
    def test_is_told_in_the_words_of_spark(self, viewer: Client) -> None:
        address = query("id", ZIP_CODE, f=f"{USER_ID}:ge:8")

        snippets = dict(
            json_of(viewer, f"{TABLE}events/use.json?{address}")["snippets"]
        )

        assert set(snippets) == {"sql", "pyspark", "deltaweb", "curl"}
        value = r"try_variant_get(`v`, '$.user[\'zip code\']', 'string')"
        assert f"SELECT `id`, {value} AS `{ZIP_CODE}`\n" in snippets["sql"]
        condition = "WHERE try_variant_get(`v`, '$.user.id', 'bigint') >= 8"
        assert snippets["sql"].endswith(condition)
        assert "can read parts of variants as typed values" in text_of(
            viewer, f"{TABLE}events/use?{address}"
        )


class TestErrors:
    def test_say_what_is_wrong_and_what_to_give(self, viewer: Client) -> None:
        for part, text, message in (
            ("col", "v:$.a..b::int", "'$.a..b' is not a valid variant path"),
            ("col", "v:$.a", "it names no type"),
            ("sort", "v:$.a::nope", "'nope' is not a type"),
            ("f", "v:$.a::nope:eq:1", "'nope' is not a type"),
            ("f", "id:$.a::bigint:eq:1", "the column 'id' is of type bigint"),
            ("col", "w:$.a::bigint", "The table has no column 'w'"),
            ("f", f"{USER_ID}:eq:x", f"'x' is not a value of the column '{USER_ID}'"),
            ("f", "v:$.a::variant:eq:1", "(variant) cannot be compared"),
        ):
            told = json_of(viewer, f"{DATA}.json?{urlencode({part: text})}", status=400)
            page = viewer.get(f"{DATA}?{urlencode({part: text})}")

            assert message in str(told["message"])
            assert told["hint"]
            assert page.status_code == 400
            assert message in unescape(page.content.decode())
            ignored = "The rows below ignore it." if part == "f" else "without it"
            assert ignored in page.content.decode()


def test_the_command_takes_the_same_names(events: Path) -> None:
    names = f"id,{ZIP_CODE}"
    where = f"`{USER_ID}` >= 8"

    ran = Ran(
        *("table", "rows", events, "--columns", names),
        *("--where", where, "--format", "csv"),
    )

    assert ran.stdout.splitlines() == [f"id,{ZIP_CODE}", "1,10115", "4,10115"]


def quoted(name: str) -> str:
    return urlencode({"": name}).removeprefix("=").replace("+", "%20")
