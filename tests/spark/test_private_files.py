"""Spark's tasks read no file of a private table through one that others may view."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest
from pytest_django.fixtures import Settings

from apps.jobs import kinds
from apps.jobs.models import Job
from apps.jobs.results import job_table
from apps.tables.models import Table
from apps.tables.work.changes import READ_CHANGES, ReadChanges
from apps.tables.work.diff_rows import DIFF_ROWS, DiffRows
from apps.tables.work.profile import PROFILE, Profile
from deltaweb.table import DeltaTable
from tests.functional.permissions.outer_tables import (
    SECRET,
    WAYS,
    Way,
    actions,
    commit,
)
from tests.support import cases
from tests.support.pages.factories import NOW, new_table

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("spark")]
SCHEMA: Final = pa.schema({"salary": pa.int64()})
FED: Final = {"delta.enableChangeDataFeed": "true"}


@pytest.fixture
def place(tmp_path: Path, settings: Settings) -> Path:
    settings.HOME = tmp_path / "home"
    settings.ALLOWED_ROOTS = [str(tmp_path)]
    settings.SPARK_DIFF_BYTES = 0
    return tmp_path / "lake"


JOBS: Final[dict[str, Callable[[Table], Job]]] = {
    "a profile": lambda table: PROFILE.request(
        table, Profile(version=1, column=("salary",)), now=NOW
    ),
    "compared rows": lambda table: DIFF_ROWS.request(
        table, DiffRows(from_=0, to=1, key=()), now=NOW
    ),
}


def staff_of(place: Path, *, is_private: bool) -> Table:
    """A table of two versions: rows, and fewer of them."""
    made = DeltaTable.create(str(place / "staff"), SCHEMA, properties=FED)
    made.append(pa.table({"salary": [1, SECRET]}))
    return new_table("hr.staff", location=made.root, is_private=is_private)


def done(job: Job) -> str:
    """Do a job on executors, and return all that came of it."""
    kinds.do_job(job.kind, str(job.id))
    job.refresh_from_db()
    assert "task" in job.progress_unit or job.state == Job.State.FAILED
    rows = job_table(job) if job.state == Job.State.DONE else None
    return f"{job.state} {job.error_code} {job.result} {rows and rows.to_pylist()}"


@cases("is_private", {"private": True, "open": False})
@cases("job", JOBS)
@cases("way", {name: WAYS[name] for name in ("a path", "a link to the file")})
def test_rows_are_read_while_it_is_open_only(
    place: Path, way: Way, job: Callable[[Table], Job], *, is_private: bool
) -> None:
    staff_of(place, is_private=is_private)
    mine = new_table("x.mine", location=str(way(place)), version=1)

    said = done(job(mine))

    assert (str(SECRET) in said) != is_private
    assert ("FAILED data-file-" in said) == is_private


@cases("is_private", {"private": True, "open": False})
def test_changes_are_read_while_it_is_open_only(
    place: Path, *, is_private: bool
) -> None:
    staff = DeltaTable(staff_of(place, is_private=is_private).location)
    staff.delete(f"salary = {SECRET}")
    (change,) = (one["cdc"] for one in actions(staff, 2) if "cdc" in one)
    ours = DeltaTable.create(str(place / "mine"), SCHEMA, properties=FED)
    commit(ours, {"cdc": change | {"path": str(place / "staff" / change["path"])}})
    mine = new_table("x.mine", location=ours.root, version=1)

    said = done(READ_CHANGES.request(mine, ReadChanges(from_=1, to=1), now=NOW))

    assert (str(SECRET) in said) != is_private
    assert "FAILED" in said or not is_private
