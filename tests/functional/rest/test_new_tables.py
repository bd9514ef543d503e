"""Tables made, converted and imported by REST: looked at, agreed to, done by a job."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.accounts.models import User
from apps.jobs.kinds import do_job
from apps.jobs.models import Job
from apps.tables.models import Table
from deltaweb.table import DeltaTable
from tests.support.files.full_disk import files_of_at_most
from tests.support.pages.rest import V1, Script, refusal

pytestmark = pytest.mark.django_db
TABLES = f"{V1}/tables"
CSV = b"id,paid,day\n1,9.50,2026-01-31\n2,,2026-02-01\nx,1.00,2026-02-02\n"
COLUMNS = [
    {"name": "id", "type": "bigint", "is_nullable": False},
    {"name": "day", "type": "date", "is_partition": True, "comment": "of the sale"},
]


@pytest.fixture
def script() -> Script:
    return Script(role=User.Role.EDITOR, name="eve")


@pytest.fixture
def place(settings, tmp_path: Path) -> Path:
    settings.HOME = tmp_path / "home"
    settings.ALLOWED_ROOTS = [str(tmp_path)]
    return tmp_path / "lake" / "orders"


def done(script: Script, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Ask for something, do the job, and return what it tells."""
    answer = script.call("POST", path, body)
    assert answer.status_code == 202, answer.content
    job = Job.objects.get(id=answer.json()["job"]["id"])
    do_job(job.kind, str(job.id))
    told: dict[str, Any] = script.call("GET", f"{V1}/jobs/{job.id}").json()
    return told


def uploaded(script: Script, data: bytes = CSV, once: str = "1") -> Any:  # noqa: ANN401
    file = SimpleUploadedFile("../orders.csv", data)
    headers = {**script.headers, "Idempotency-Key": once}
    return Client().post(f"{V1}/uploads", {"file": file}, headers=headers)


def test_an_upload_to_a_full_disk_says_so_and_leaves_nothing(script, place: Path):
    with files_of_at_most(1 << 16):
        full = uploaded(script, b"id\n" + b"1\n" * (1 << 16))
    left = list((place.parents[1] / "home" / "uploads").iterdir())
    again = uploaded(script)

    assert refusal(full) == (503, "disk-full")
    assert left == []
    assert again.status_code == 201


def test_a_table_is_made_of_columns_once_it_was_looked_at(script, place: Path) -> None:
    asked = {"name": "shop.orders", "location": str(place), "columns": COLUMNS}

    look = done(script, f"{TABLES}/create", {"parameters": asked})
    assert not place.exists()
    made = done(script, f"{TABLES}/create", {"preview": False, "seen": look["id"]})

    assert look["result"]["counts"]["num_columns"] == 2
    assert made["result"]["table"] == "shop.orders"
    schema = DeltaTable(str(place)).snapshot().schema
    assert [(one.name, one.nullable) for one in schema.fields] == [
        ("id", False),
        ("day", True),
    ]
    assert script.call("GET", f"{TABLES}/shop/orders").status_code == 200


def test_a_table_is_made_at_once_where_none_is(script, place: Path) -> None:
    asked = {"name": "shop.orders", "location": str(place), "columns": COLUMNS}
    body = {"parameters": asked, "preview": False}

    made = done(script, f"{TABLES}/create", body)
    again = script.call("POST", f"{TABLES}/create", body)

    assert (made["state"], made["result"]["version"]) == ("DONE", 0)
    assert refusal(again) == (409, "table-name-taken")


def test_a_folder_becomes_a_table_where_it_lies(script, place: Path) -> None:
    place.mkdir(parents=True)
    pq.write_table(pa.table({"id": [1, 2]}), place / "part.parquet")
    asked = {"name": "orders", "location": str(place)}

    look = done(script, f"{TABLES}/convert", {"parameters": asked})
    made = done(script, f"{TABLES}/convert", {"preview": False, "seen": look["id"]})

    assert look["result"]["counts"] == {"num_files": 1, "num_rows": 2}
    assert (made["state"], made["result"]["files"]) == ("DONE", 1)
    assert DeltaTable(str(place)).snapshot().read().num_rows == 2


def test_a_file_that_is_sent_becomes_a_table_and_then_more_rows(script, place) -> None:
    sent = uploaded(script).json()
    file = {"upload": sent["upload"], "name": sent["file_name"]}
    asked = {"name": "shop.orders", "location": str(place), "rows": {"file": file}}

    look = done(script, f"{TABLES}/import", {"parameters": asked})
    made = done(script, f"{TABLES}/import", {"preview": False, "seen": look["id"]})
    Table.objects.update(version=0, latest_version_seen=0, state=Table.State.INDEXED)
    more = place.parent / "more.csv"
    more.write_bytes(b"id,paid,day\ny,2.00,2026-03-01\n")
    rows = {"file": {"path": str(more)}}
    twice = [
        done(
            script,
            f"{TABLES}/shop/orders/operations/import_rows",
            {"parameters": rows, "preview": False},
        )
        for version in (0, 1)
        if Table.objects.update(version=version, latest_version_seen=version)
    ]

    assert (sent["file_name"], sent["size_bytes"]) == ("orders.csv", len(CSV))
    assert look["result"]["counts"] == {"num_rows": 3, "num_bad": 0}
    assert (made["state"], made["result"]["num_rows"]) == ("DONE", 3)
    assert [one["state"] for one in twice] == ["DONE", "DONE"]
    assert DeltaTable(str(place)).snapshot().read().num_rows == 5


def test_a_file_with_two_readings_waits_for_a_choice(script, place) -> None:
    sent = uploaded(script, b"id;weight\n1;1,234\n").json()
    file = {"upload": sent["upload"], "name": sent["file_name"]}
    asked = {"name": "shop.orders", "location": str(place)}

    def imported(texts: dict[str, str], *, preview: bool) -> dict[str, Any]:
        rows = {"file": {**file, "texts": texts}}
        body = {"parameters": {**asked, "rows": rows}, "preview": preview}
        found: dict[str, Any] = done(script, f"{TABLES}/import", body)
        return found

    look = imported({}, preview=True)
    agreed = done(script, f"{TABLES}/import", {"preview": False, "seen": look["id"]})
    states = [agreed["state"], imported({}, preview=False)["state"]]
    made = imported({"decimal_sign": ","}, preview=False)

    (column,) = [c for c in look["result"]["columns"] if c["name"] == "weight"]
    assert [one["value"] for one in column["readings"]] == ["1.234", "1234"]
    assert states == ["FAILED", "FAILED"]
    assert made["state"] == "DONE"
    assert DeltaTable(str(place)).snapshot().read()["weight"].to_pylist() == [1.234]


def test_a_file_that_somebody_else_sent_is_not_found(script, place: Path) -> None:
    sent = uploaded(script).json()
    other = Script(role=User.Role.ADMIN, name="max")
    file = {"upload": sent["upload"], "name": sent["file_name"]}
    asked = {"name": "orders", "location": str(place)}

    answers = [
        other.call("POST", f"{TABLES}/{path}", {"parameters": parameters})
        for path, parameters in (
            ("create", {**asked, "file": file}),
            ("import", {**asked, "rows": {"file": file}}),
        )
    ]

    assert [(answer.status_code, answer.json()["error"]) for answer in answers] == [
        (404, "upload-gone")
    ] * 2


def test_a_file_that_is_sent_again_with_its_key_is_kept_once(script, place) -> None:
    first, again = uploaded(script), uploaded(script)
    other = uploaded(script, b"id\n1\n")

    assert (first.status_code, again.content) == (201, first.content)
    assert other.json()["error"] == "idempotency-key-reused"
    assert len([*(place.parent.parent / "home" / "uploads").glob("*/data")]) == 1


@pytest.mark.parametrize(
    ("path", "parameters", "status", "error"),
    [
        ("create", {"columns": []}, 422, "schema-invalid"),
        ("create", {"columns": [{"name": "a", "type": "no"}]}, 422, "schema-invalid"),
        ("create", {"location": "/etc/x"}, 422, "location-not-allowed"),
        ("create", {"name": "a/b"}, 422, "table-name-invalid"),
        ("convert", {"partition_schema": "x y z"}, 422, "schema-invalid"),
        ("convert", {"time_zone": "Mars"}, 422, "time-zone-unknown"),
        ("convert", {"location": "/etc"}, 422, "location-not-allowed"),
        ("import", {"rows": {"file": {}}}, 422, "import-file-unreadable"),
        (
            "import",
            {"rows": {"file": {"path": "/etc/passwd"}}},
            422,
            "import-file-unreadable",
        ),
        ("import", {"rows": {"file": {"format": "xls"}}}, 400, "body-invalid"),
        (
            "import",
            {"rows": {"file": {"texts": {"delimiter": "::"}}}},
            400,
            "body-invalid",
        ),
        ("import", {}, 400, "body-invalid"),
        # What a command alone may say: it has no user, and reads any file.
        ("import", {"user_id": None, "rows": {"file": {}}}, 400, "unknown-parameter"),
        ("import", {"files": ["/etc/passwd"]}, 400, "unknown-parameter"),
        ("import", {"rows": {"files": ["/etc/passwd"]}}, 400, "unknown-parameter"),
        ("import", {"rows": {"file": {"files": ["/etc/a"]}}}, 400, "unknown-parameter"),
        (
            "create",
            {"files": ["/etc/passwd"], "user_id": None},
            400,
            "unknown-parameter",
        ),
    ],
)
def test_what_cannot_be_made_is_refused_before_a_job_is_made_of_it(  # noqa: PLR0913, PLR0917
    script: Script, place: Path, path: str, parameters, status: int, error: str
) -> None:
    asked = {"name": "shop.orders", "location": str(place), **parameters}
    if path == "create":
        asked = {"columns": COLUMNS, **asked}

    answer = script.call("POST", f"{TABLES}/{path}", {"parameters": asked})

    assert (answer.json()["error"], answer.status_code) == (error, status)
    assert not Job.objects.exists()


def test_a_look_of_somebody_else_is_agreed_to_by_nobody(script, place: Path) -> None:
    asked = {"name": "shop.orders", "location": str(place), "columns": COLUMNS}
    look = done(script, f"{TABLES}/create", {"parameters": asked})
    other = Script(role=User.Role.EDITOR, name="mallory")

    answer = other.call(
        "POST", f"{TABLES}/create", {"preview": False, "seen": look["id"]}
    )
    nothing = other.call("POST", f"{TABLES}/create", {"preview": False})

    assert refusal(answer) == (409, "operation-outdated")
    assert refusal(nothing) == (400, "body-invalid")
