"""Tables of a share of which one cannot be prepared: what happens to the others."""

import contextlib
from pathlib import Path

import pyarrow as pa
import pytest
from django.db import DataError, OperationalError

from apps.jobs.running.reports import Reports
from apps.jobs.running.tracking import JobCancelled
from apps.sharing.access.grants import preparing
from apps.sharing.errors import NotPreparedError
from apps.sharing.models import Share, SharedTable
from deltaweb.delta.errors import DataFileError
from deltaweb.table import DeltaTable
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
)
from tests.support.pages.shown_words import words

pytestmark = pytest.mark.django_db
ROWS = pa.table({"id": [1, 2, 3], "country": ["DE", "FR", "DE"]})


@pytest.fixture
def tables(tmp_path: Path, settings) -> dict[str, DeltaTable]:
    """Two tables of one share, of which recipients see a part, at version 1."""
    settings.HOME = tmp_path / "home"
    settings.PREPARED_FILES = str(tmp_path / "prepared")
    share, made = new_share("retail"), {}
    new_grant(share, new_recipient("globex"))
    for name in ("broken", "sound"):
        root = tmp_path / "lake" / name
        made[name] = DeltaTable.create(str(root), ROWS.schema)
        made[name].append(ROWS)
        table = new_table(f"crm.{name}", location=str(root), version=1)
        new_shared_table(share, f"crm.{name}", table=table, condition="country = 'DE'")
    return made


def prepare() -> None:
    share = Share.objects.get()
    preparing.prepare_share(share, reports=Reports(), now=NOW)


def versions() -> dict[str, list[int]]:
    """The versions that are ready, by the name of their table."""
    return {
        one.name: sorted(one.prepared_versions.values_list("version", flat=True))
        for one in SharedTable.objects.all()
    }


@pytest.fixture
def fails(monkeypatch):
    """Let the rewriting of one table end with an error."""

    def begin(error: Exception) -> None:
        write = vars(preparing)["write_excerpts"]

        def broken(excerpts, *args, **kwargs):
            if "broken" in str(excerpts.place):
                raise error
            return write(excerpts, *args, **kwargs)

        monkeypatch.setattr(preparing, "write_excerpts", broken)

    return begin


def test_a_fault_in_one_table_holds_back_no_other(tables, fails, caplog) -> None:
    prepare()
    for table in tables.values():
        table.append(ROWS)
    fails(pa.ArrowInvalid("Column 'r' declared non-nullable contains nulls"))

    with pytest.raises(NotPreparedError, match="broken for globex cannot be prepared"):
        prepare()

    assert versions() == {"broken": [1], "sound": [1, 2]}
    broken, sound = SharedTable.objects.order_by("name")
    assert "ArrowInvalid" in broken.preparation_problem
    assert broken.preparation_failed_at == NOW
    assert (sound.preparation_problem, sound.preparation_failed_at) == ("", None)
    assert "non-nullable" in caplog.text


def test_the_page_says_which_version_is_read_and_why(tables, fails, admin):
    prepare()
    tables["broken"].append(ROWS)
    fails(ValueError("secret"))
    with pytest.raises(NotPreparedError):
        prepare()

    shown = words(admin.get("/shares/retail/").content.decode())
    told = admin.get("/shares/retail.json").json()["tables"]

    assert "crm.broken globex 2 " in shown
    assert "not checked, v1" in shown
    assert "Preparing the newest version has failed since" in shown
    assert "secret" not in shown
    by_name = {table["name"]: table["preparation_problem"] for table in told}
    assert by_name["crm.sound"] is None
    assert "ValueError" in by_name["crm.broken"]


@pytest.mark.usefixtures("tables")
def test_a_table_that_can_be_prepared_again_says_nothing_any_more(fails, monkeypatch):
    fails(ValueError())
    with pytest.raises(NotPreparedError):
        prepare()
    monkeypatch.undo()

    prepare()

    assert versions() == {"broken": [1], "sound": [1]}
    assert not SharedTable.objects.exclude(preparation_problem="").exists()
    assert not SharedTable.objects.exclude(preparation_failed_at=None).exists()


@pytest.mark.usefixtures("tables")
def test_a_preparation_that_is_cancelled_ends(fails) -> None:
    fails(JobCancelled())

    with pytest.raises(JobCancelled):
        prepare()

    assert versions() == {"broken": [], "sound": []}
    assert not SharedTable.objects.exclude(preparation_problem="").exists()


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "x" * 100_000])
def test_a_message_that_no_database_takes_holds_back_no_other(fails, text):
    fails(DataFileError(path=text, reason="it is empty"))

    with pytest.raises(NotPreparedError):
        prepare()

    assert versions() == {"broken": [], "sound": [1]}
    problem = SharedTable.objects.get(name="broken").preparation_problem
    assert "The data file" in problem
    assert len(problem) <= preparing.MAX_PROBLEM_LENGTH


@pytest.mark.usefixtures("tables")
def test_values_that_the_database_refuses_hold_back_no_other(fails) -> None:
    fails(DataError("unsupported Unicode escape sequence"))

    with pytest.raises(NotPreparedError):
        prepare()

    assert versions() == {"broken": [], "sound": [1]}
    problem = SharedTable.objects.get(name="broken").preparation_problem
    assert "DataError" in problem


@pytest.mark.usefixtures("tables")
def test_a_database_that_does_not_answer_ends_the_preparation(fails) -> None:
    fails(OperationalError("the server closed the connection"))

    with pytest.raises(OperationalError):
        prepare()

    assert versions() == {"broken": [], "sound": []}


@pytest.mark.usefixtures("tables")
def test_a_partition_that_holds_nul_holds_back_no_other(tmp_path: Path) -> None:
    """PostgreSQL has no NUL in JSON, and a binary value may begin with one."""
    raw = pa.array([b"\x00a", b"\x00a", b"b"])
    rows = ROWS.append_column("raw", raw)
    root = str(tmp_path / "lake" / "binary")
    DeltaTable.create(root, rows.schema, partition_by=["raw"]).append(rows)
    table = new_table("crm.binary", location=root, version=1)
    share = Share.objects.get()
    new_shared_table(share, "crm.binary", table=table, condition="country = 'DE'")

    with contextlib.suppress(NotPreparedError):
        prepare()

    assert {**versions(), "binary": []} == {"binary": [], "broken": [1], "sound": [1]}
