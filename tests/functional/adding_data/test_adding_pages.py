"""Tables are created, converted and imported on pages: looked at first, then made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.tables.catalogue.adding.work import import_rows
from apps.tables.models import Table
from deltaweb.delta.protocol.schema import arrow_schema
from deltaweb.table import DeltaTable
from deltaweb.writer.importing.checked_rows import LookLimit
from tests.support.pages.factories import new_unindexed_table, new_user
from tests.support.pages.shown_words import words
from tests.support.tables.table_builder import TableBuilder

pytestmark = pytest.mark.django_db

Work = Callable[[], Job]
WAYS = ("create", "convert", "import")


def text_of(response: Any) -> str:  # noqa: ANN401  # the test client has its own
    return str(response.content.decode())


def agree(client: Client, work: Work, address: str, look: Job) -> Any:  # noqa: ANN401  # likewise
    """Agree to a look, let it be done, and follow to the table."""
    asked = client.post(address, {"seen": look.id})
    work()
    return client.get(asked.headers["Location"], follow=True)


def written_by(location: str) -> str | None:
    """Tell who made the newest version, as its log says."""
    (newest,) = DeltaTable(location).history(limit=1)
    return newest.user


def recorded(action: str) -> AuditEvent:
    return AuditEvent.objects.get(action=action)


def test_a_table_is_created_of_columns(editor: Client, work: Work, lake: Path) -> None:
    asked = editor.post(
        "/tables/new/create",
        {
            "name": "sales.visits",
            "location": f"{lake}/visits",
            "column_name": ["id", "day", ""],
            "column_type": ["bigint", "date", ""],
            "column_comment": ["the key", "", ""],
            "column_nullable": ["1"],
            "column_partition": ["1"],
        },
    )
    look = work()
    page = text_of(editor.get(asked.headers["Location"]))
    assert "Create sales.visits" in page
    assert not (lake / "visits").exists()

    opened = agree(editor, work, "/tables/new/create", look)

    table = Table.objects.get(name="visits")
    assert opened.request["PATH_INFO"] == table.get_absolute_url()
    snapshot = DeltaTable(table.location).snapshot()
    assert [(c.name, c.nullable) for c in snapshot.schema.fields] == [
        ("id", False),
        ("day", True),
    ]
    assert snapshot.metadata.partition_columns == ["day"]
    assert recorded("table.create").actor == "eve"
    assert written_by(table.location) == "eve"


def test_that_a_job_is_done_is_said_once_though_its_page_asks_twice(editor, work, lake):
    address = "/tables/new/create"
    columns = {"column_name": ["id"], "column_type": ["bigint"]}
    named = {"name": "visits", "location": f"{lake}/visits"}
    editor.post(address, {**named, **columns})
    asked = editor.post(address, {"seen": work().id})
    work()

    for _ in range(2):
        there = editor.get(asked.headers["Location"], headers={"HX-Request": "true"})
    opened = text_of(editor.get(there.headers["HX-Redirect"]))

    assert opened.count("Done.") == 1


def test_a_table_is_created_of_the_columns_of_a_file(editor, work, lake, settings):
    address, place = "/tables/new/create", lake / "returns"
    named = {"name": "sales.returns", "location": str(place)}
    file = SimpleUploadedFile("returns.csv", b"id;day\n1;2026-01-31\n2;2026-02-01\n")
    asked = editor.post(address, {**named, "file": file})
    look = work()
    page = text_of(editor.get(asked.headers["Location"]))
    assert 'value="bigint"' in page
    assert 'value="date"' in page
    assert "returns.csv" in page
    assert not place.exists()

    changed = {"column_name": ["id", "day"], "column_type": ["int", "date"]}
    kept = look.parameters["asked"]["upload"]
    editor.post(
        address, {**named, **changed, "upload": kept, "file_name": "returns.csv"}
    )
    agree(editor, work, address, work())

    snapshot = DeltaTable(str(place)).snapshot()
    assert [column.type for column in arrow_schema(snapshot.schema)] == [
        pa.int32(),
        pa.date32(),
    ]
    assert (snapshot.version, snapshot.num_files) == (0, 0)
    assert not list((settings.HOME / "uploads").iterdir())


def test_a_file_that_is_another_by_then_makes_no_table(editor, work, lake):
    file = lake / "a.jsonl"
    file.write_text('{"n": 1}\n')
    address, place = "/tables/new/create", f"{lake}/t"
    editor.post(address, {"name": "ok", "location": place, "path": str(file)})
    look = work()
    assert [one["type"] for one in (look.result or {})["columns"]] == ["bigint"]
    file.write_text('{"m": "one"}\n')

    editor.post(address, {"seen": look.id})
    work()

    assert not Path(place).exists()
    assert not Table.objects.exists()


def test_a_folder_is_converted(editor: Client, work: Work, lake: Path) -> None:
    (lake / "events/day=2026-01-31").mkdir(parents=True)
    pq.write_table(pa.table({"id": [1, 2]}), lake / "events/day=2026-01-31/a.parquet")

    asked = editor.post(
        "/tables/new/convert", {"name": "events", "location": f"{lake}/events"}
    )
    look = work()
    page = text_of(editor.get(asked.headers["Location"]))
    assert "Convert 1 file into events" in page
    assert not (lake / "events/_delta_log").exists()
    agree(editor, work, "/tables/new/convert", look)

    assert DeltaTable(f"{lake}/events").snapshot().read().num_rows == 2
    assert recorded("table.convert").detail["files"] == 1
    assert written_by(f"{lake}/events") == "eve"


def test_every_reason_against_a_folder_is_shown(editor: Client, work: Work, lake: Path):
    (lake / "events").mkdir()
    (lake / "events/a.parquet").write_text("no Parquet at all")

    asked = editor.post(
        "/tables/new/convert", {"name": "events", "location": f"{lake}/events"}
    )
    work()

    page = text_of(editor.get(asked.headers["Location"]))
    assert "The folder cannot be converted" in page
    assert "a.parquet: " in page


def test_a_file_makes_a_table_after_its_bad_rows_were_seen(editor, work, lake):
    brought = SimpleUploadedFile("../re turns.csv", b"id;refund\n1;49,90\n2;n/a\n")
    values = {"name": "returns", "location": f"{lake}/returns", "decimal_sign": ","}
    asked = editor.post("/tables/new/import", {**values, "file": brought})
    first = work()
    page = text_of(editor.get(asked.headers["Location"]))
    assert "re turns.csv" in page
    assert (first.result or {})["num_bad"] == 0

    kept = first.parameters["asked"]
    editor.post(
        "/tables/new/import",
        {
            **values,
            "upload": kept["upload"],
            "file_name": kept["file_name"],
            "column_source": ["id", "refund"],
            "column_name": ["id", "refund"],
            "column_type": ["bigint", "decimal(12,2)"],
            "column_nullable": ["0", "1"],
        },
    )
    look = work()
    page = text_of(editor.get(f"/tables/new/import?job={look.id}"))
    assert "1 row does not fit" in page
    assert "not a number" in page
    assert "Import 1 row" in page
    agree(editor, work, "/tables/new/import", look)

    rows = DeltaTable(f"{lake}/returns").snapshot().read().to_pylist()
    assert [(row["id"], str(row["refund"])) for row in rows] == [(1, "49.90")]
    assert not list((lake.parent / "home/uploads").iterdir())
    assert recorded("table.import").detail["files"] == ["re turns.csv"]


def test_a_file_that_is_too_large_to_preview_is_imported_whole(
    editor, work, lake, tmp_path, monkeypatch
):
    monkeypatch.setattr(import_rows, "LOOK", LookLimit(num_bytes=16, seconds=60.0))
    pq.write_table(pa.table({"id": range(5)}), tmp_path / "rows", row_group_size=1)
    file = SimpleUploadedFile("rows.parquet", (tmp_path / "rows").read_bytes())
    address, place = "/tables/new/import", str(lake / "rows")

    asked = editor.post(address, {"name": "rows", "location": place, "file": file})
    look = work()
    page = text_of(editor.get(asked.headers["Location"]))
    agree(editor, work, address, look)

    assert (look.result["is_partial"], look.result["num_rows"]) == (True, 2)
    assert look.result["counts"] == {}
    assert "too large to preview: 2 rows were checked" in page
    assert "Import all rows" in page
    assert DeltaTable(place).snapshot().read()["id"].to_pylist() == [0, 1, 2, 3, 4]


def test_a_column_that_is_text_by_one_value_is_offered_as_numbers(editor, work, lake):
    brought = SimpleUploadedFile("a.csv", b"id;v\n1;1.5\n2;2\n3;n/a\n4;4\n5;1e16\n")
    values = {"name": "numbers", "location": f"{lake}/numbers"}
    asked = editor.post("/tables/new/import", {**values, "file": brought})
    first = work()
    page = text_of(editor.get(asked.headers["Location"]))
    assert "4 of 5 values of <code>v</code> are numbers" in page
    assert "n/a</span> in line 4" in page
    assert "Take double" in page
    assert "all fit" in page

    kept = first.parameters["asked"]
    editor.post(
        "/tables/new/import",
        {
            **values,
            "upload": kept["upload"],
            "file_name": kept["file_name"],
            "column_source": ["id", "v"],
            "column_name": ["id", "v"],
            "column_type": ["bigint", "string"],
            "column_nullable": ["0", "1"],
            "take": "1|double|",
        },
    )
    look = work()
    page = text_of(editor.get(f"/tables/new/import?job={look.id}"))
    assert "1 row does not fit" in page
    assert "Take double" not in page
    assert "1e+16" in page
    agree(editor, work, "/tables/new/import", look)

    rows = DeltaTable(f"{lake}/numbers").snapshot().read().sort_by("id")
    assert rows["v"].to_pylist() == [1.5, 2.0, 4.0, 1e16]


def test_rows_that_break_a_constraint_are_counted_and_left_out(editor, work, lake):
    builder = TableBuilder(lake / "t").columns(n="long").features("checkConstraints")
    made = builder.build()
    made.add_constraint("positive", "n > 0")
    table = new_unindexed_table("t", location=f"{lake}/t")
    (lake / "a.csv").write_text("n\n1\n-2\n3\n-4\n")
    address = f"{table.get_absolute_url()}import"

    asked = editor.post(address, {"path": f"{lake}/a.csv"})
    look = work()
    page = text_of(editor.get(asked.headers["Location"]))
    assert "2 rows break the constraint positive" in words(page)
    assert "n=-4" in page
    agree(editor, work, address, look)

    assert made.snapshot().read().sort_by("n")["n"].to_pylist() == [1, 3]


def test_rows_of_a_file_on_the_server_go_into_a_table(editor, work, lake):
    TableBuilder(lake / "t").columns(n="long").build()
    table = new_unindexed_table("t", location=f"{lake}/t")
    (lake / "a.jsonl").write_text('{"n": 1}\n{"n": 2, "more": "x"}\n')
    address = f"{table.get_absolute_url()}import"

    asked = editor.post(address, {"path": f"{lake}/a.jsonl"})
    look = work()
    assert "new column" in text_of(editor.get(asked.headers["Location"]))
    opened = agree(editor, work, address, look)

    shown = text_of(opened)
    assert opened.request["PATH_INFO"] == address
    assert shown.count('id="done-title"') == 1
    assert 'action="/t/default/t/undo"' in shown
    assert "Undo this commit" in shown
    assert "dw-banner" not in shown
    rows = DeltaTable(table.location).snapshot().read().sort_by("n").to_pylist()
    assert rows == [{"n": 1, "more": None}, {"n": 2, "more": "x"}]
    assert written_by(table.location) == "eve"


@pytest.mark.parametrize(
    ("way", "values"),
    [
        ("create", {"column_name": "n", "column_type": "bigint"}),
        ("convert", {}),
        ("import", {"path": "{lake}/a.jsonl"}),
    ],
)
def test_a_table_that_was_made_and_not_registered_is_registered_by_another_try(
    editor: Client, work: Work, lake: Path, way: str, values: dict[str, str]
) -> None:
    place, address = lake / "t", f"/tables/new/{way}"
    (lake / "a.jsonl").write_text('{"n": 1}\n')
    if way == "convert":
        place.mkdir()
        pq.write_table(pa.table({"n": [1]}), place / "a.parquet")
    brought = {name: text.format(lake=lake) for name, text in values.items()}
    editor.post(address, {"name": "t", "location": str(place), **brought})
    look = work()
    agree(editor, work, address, look)
    # As a worker leaves it that is killed between the commit and the catalogue.
    Table.objects.all().delete()

    opened = agree(editor, work, address, look)

    table = Table.objects.get()
    assert opened.request["PATH_INFO"] == table.get_absolute_url()
    assert DeltaTable(table.location).snapshot().version == 0
    events = AuditEvent.objects.filter(action=f"table.{way}")
    assert [event.detail["version"] for event in events] == [0, 0]


@pytest.mark.parametrize(
    ("way", "values", "said"),
    [
        ("create", {"name": "a b c/"}, "name"),
        (
            "create",
            {"name": "ok", "column_name": "x", "column_type": "no"},
            "there is no type",
        ),
        ("create", {"name": "ok"}, "needs a column"),
        ("create", {"name": "ok", "path": "/etc/passwd.csv"}, "outside"),
        ("create", {"name": "ok", "path": "s3://b/a"}, "show its format"),
        ("convert", {"name": "ok", "location": "/etc/x"}, "outside"),
        ("convert", {"name": "ok", "partition_schema": "no such"}, "there is no type"),
        ("import", {"name": "ok", "path": "/etc/passwd.csv"}, "outside"),
        ("import", {"name": "ok"}, "Choose a file"),
        ("import", {"name": "ok", "path": "s3://b/a.csv"}, "outside"),
    ],
)
def test_what_cannot_be_asked_is_refused_at_once(editor, lake, way, values, said):
    asked = {"location": f"{lake}/new", **values}

    answer = editor.post(f"/tables/new/{way}", asked)

    assert answer.status_code == 422
    assert said in text_of(answer)
    assert not Job.objects.exists()


@pytest.mark.parametrize("way", WAYS)
def test_only_editors_add_tables(client: Client, way: str) -> None:
    client.force_login(new_user("vera", role=User.Role.VIEWER))

    assert client.get(f"/tables/new/{way}").status_code == 403
    assert client.post(f"/tables/new/{way}").status_code == 403


@pytest.mark.parametrize("way", WAYS)
def test_nobody_sees_the_looks_of_others(editor, work, lake, way):
    (lake / "a").mkdir()
    editor.post("/tables/new/convert", {"name": "t", "location": f"{lake}/a"})
    look = work()
    editor.force_login(new_user("adam", role=User.Role.EDITOR))

    page = editor.get(f"/tables/new/{way}.json?job={look.id}").json()

    assert page["job"] is None
