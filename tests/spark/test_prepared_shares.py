"""Files of a share that Spark's tasks rewrite: as this process does it."""

from pathlib import Path

import pyarrow as pa
import pytest
from pytest_django import Settings

from apps.jobs.models import Job
from apps.sharing.access.grants.preparing import (
    PREPARE_SHARE,
    request_preparation,
)
from apps.sharing.models import PreparedChanges, PreparedFile
from apps.tables.index.engine import Engine
from deltaweb.table import DeltaTable
from tests.functional.sharing_api.ruled import Ruled, new_staff, rows
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def staff(tmp_path: Path, settings: Settings) -> Ruled:
    """A table of vectors and partitions; its share hides columns, and a recipient."""
    settings.HOME = tmp_path / "home"
    settings.PREPARED_FILES = str(tmp_path / "prepared")
    root = tmp_path / "lake" / "staff"
    made = new_staff(
        root,
        partition_by=["region"],
        properties={
            "delta.enableChangeDataFeed": "true",
            "delta.enableDeletionVectors": "true",
            "delta.columnMapping.mode": "name",
        },
    )
    made.delete("id = 3")
    made.append(rows(20, 4, None, "none"))
    table = new_table("hr.staff", location=str(root), version=made.latest_version())
    shared = new_shared_table(new_share("People"), "hr.staff", table=table)
    new_grant(shared.share, new_recipient("acme"))
    ruled = Ruled(made, shared)
    ruled.rule("id <> 11 AND (region = 'EU' OR region IS NULL)", "id", "region", "note")
    return ruled


def _prepared(folder: Path) -> tuple[list[tuple[object, ...]], dict[str, bytes]]:
    """What is known of rewritten files, and their bytes."""
    facts = ("key", "kind", "source_path", "num_rows", "size_bytes", "statistics")
    known = PreparedFile.objects.order_by("key").values_list(*facts, "partition_values")
    files = {one.name: one.read_bytes() for one in folder.rglob("*.parquet")}
    return list(known), files


@pytest.mark.usefixtures("spark")
def test_tasks_write_the_same_bytes_as_one_process(staff, tmp_path) -> None:
    (here,) = staff.prepare(engine=Engine.HERE)
    by_process = _prepared(tmp_path / "prepared")
    PreparedFile.objects.all().delete()
    for one in (tmp_path / "prepared").rglob("*.parquet"):
        one.unlink()

    (proved,) = staff.prepare(engine=Engine.SPARK, proves=True)

    assert _prepared(tmp_path / "prepared") == by_process
    assert (proved.num_made, proved.rewritten) == (here.num_made, here.rewritten)
    assert proved.rewritten
    assert proved.rows_outside == 0


def _change_rows(made: DeltaTable) -> None:
    """Change rows by each kind of file: with changes, with vectors, added, removed."""
    made.update({"region": "'US'"}, "id = 1")
    made.update({"salary": "salary + 1"}, "id IN (2, 12, 20)")
    made.delete("id IN (10, 11)")
    made.append(rows(30, 4, "EU"))
    made.overwrite(pa.concat_tables([rows(0, 25, "EU"), rows(2, 1, "EU")]))


@pytest.mark.usefixtures("spark")
def test_tasks_write_the_same_changes_as_one_process(staff, tmp_path) -> None:
    staff.rule("id <> 13 AND (region = 'EU' OR region IS NULL)", "note", "region")
    staff.prepare()
    known = set(PreparedFile.objects.values_list("key", flat=True))
    _change_rows(staff.table)
    staff.prepare(engine=Engine.HERE)
    by_process = _prepared(tmp_path / "prepared")
    PreparedChanges.objects.all().delete()
    PreparedFile.objects.exclude(key__in=known).delete()
    for one in (tmp_path / "prepared").rglob("*.parquet"):
        if one.stem not in known:
            one.unlink()

    staff.prepare(engine=Engine.SPARK)

    assert _prepared(tmp_path / "prepared") == by_process
    states = PreparedChanges.objects.order_by("version").values_list("is_ready")
    assert [is_ready for (is_ready,) in states] == [True] * 5
    assert PreparedFile.objects.exclude(changes=None).count() > 5


@pytest.mark.usefixtures("spark")
def test_the_job_has_spark_rewrite_much(staff, settings) -> None:
    settings.SPARK_DIFF_BYTES = 0
    job = request_preparation(staff.shared.share, now=NOW)

    PREPARE_SHARE.work(job.id)

    job = Job.objects.get()
    assert (job.state, job.error) == (Job.State.DONE, "")
    assert job.progress_unit == "tasks"
    assert PreparedFile.objects.filter(num_rows__gt=0).exists()
