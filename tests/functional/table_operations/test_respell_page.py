"""The page and the command that spell partition values in one way."""

from pathlib import Path

import pyarrow as pa
import pytest
from django.test import Client

from apps.jobs.models import Job
from deltaweb.table import DeltaTable
from tests.functional.table_command.commands import refusal, run, run_json
from tests.functional.table_operations.conftest import Work
from tests.support.logs.spelled_partitions import append_spelled, spelled
from tests.support.tables.weekly_table import page_text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("orders")]
OPTIMIZE = "/t/default/orders/optimize"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table whose newest version spells one time in two ways."""
    kind = pa.timestamp("us", "UTC")
    schema = pa.schema([("p", kind), ("id", pa.int64())])
    folder = tmp_path / "lake" / "orders"
    table = DeltaTable.create(str(folder), schema, partition_by=["p"])
    for number, text in enumerate(
        ["1970-01-01 00:00:00", "1970-01-01T00:00:00.000000Z", "1970-01-01 00:00:00"]
    ):
        rows = pa.table({"p": [0], "id": [number]}).cast(schema)
        append_spelled(table, rows, p=text)
    return folder


def texts(folder: Path) -> set[str]:
    return {said["p"] for said in spelled(DeltaTable(str(folder)))}


def test_the_page_shows_what_is_spelled_how_and_spells_it_in_one_way(
    editor: Client, work: Work, folder: Path
) -> None:
    refused = editor.post(OPTIMIZE, {"respell": "on", "cluster_by": "id"})
    editor.post(OPTIMIZE, {"respell": "on"})
    look = work()
    shown = page_text(editor, OPTIMIZE)
    editor.post(OPTIMIZE, {"seen": str(look.id)})
    done = work()

    assert refused.status_code == 422
    assert "p: 2 files without a zone ('1970-01-01 00:00:00')" in shown
    assert "Respell values</button>" in shown
    assert done.state == Job.State.DONE, done.error
    assert texts(folder) == {"1970-01-01T00:00:00.000000Z"}
    assert "in one way; no row and no file changed" in page_text(editor, OPTIMIZE)
    editor.post(OPTIMIZE, {"respell": "on"})
    work()
    assert "Partition values are normalised already" in page_text(editor, OPTIMIZE)


def test_the_command_says_what_is_spelled_how_and_spells_it_in_one_way(folder: Path):
    said = run("check-files", "orders")
    told = run_json("check-files", "orders")["spellings"]
    dry = run_json("optimize", folder, "--respell", "--dry-run")
    shown = run("optimize", folder, "--respell", "--dry-run")
    run("optimize", folder, "--respell")

    assert "p: 2 files without a zone ('1970-01-01 00:00:00'), 1 in UTC" in said
    assert "deltaweb table optimize orders --respell spells them alike." in said
    assert [(one["num_zoneless"], one["num_utc"]) for one in told] == [(2, 1)]
    assert (dry["num_files"], dry["columns"]) == (2, told)
    assert "The values of 2 files would be respelled." in shown
    assert texts(folder) == {"1970-01-01T00:00:00.000000Z"}
    assert "Nothing to do" in run("optimize", folder, "--respell", "--dry-run")
    assert "compacts nothing" in refusal(
        "optimize", folder, "--respell", "--cluster-by", "id"
    )
    assert run_json("check-files", "orders")["spellings"] == []
