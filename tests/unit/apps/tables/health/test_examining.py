"""The rules run on a new index, once a day, and when somebody asks."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.jobs import kinds
from apps.jobs.models import Job
from apps.tables.extension.indexed import follow_index
from apps.tables.health.examining import (
    EXAMINE,
    examine_table,
    request_due_examination,
    thresholds_of,
)
from apps.tables.models import NamespaceThresholds, StoredFinding, Table
from tests.support.pages.factories import NOW, new_table

pytestmark = pytest.mark.django_db
EDGES = [0, 1024, 4096, 1 << 20]


def _full_of_small_files(name: str) -> Table:
    histogram = {"edges": EDGES, "counts": [0, 84, 0], "bytes": [0, 84 * 3000, 0]}
    return new_table(
        name,
        num_files=84,
        size_bytes=84 * 3000,
        summary={"size_histogram": histogram},
        health_checked_at=None,
    )


def test_a_new_index_is_examined() -> None:
    table = _full_of_small_files("orders")

    follow_index(table, now=NOW)

    found = StoredFinding.objects.get(table=table)
    assert (found.rule, found.found_at) == ("small-files", NOW)
    assert found.sentence.startswith("84 files of 2.9 KiB")


def test_a_namespace_may_have_other_thresholds() -> None:
    NamespaceThresholds.objects.create(
        namespace="raw", values={"small_files": 200}, changed_at=NOW
    )

    num_raw = examine_table(_full_of_small_files("raw.orders"), now=NOW)
    num_other = examine_table(_full_of_small_files("web.orders"), now=NOW)

    assert (num_raw, num_other) == (0, 1)
    assert thresholds_of("raw").small_files == 200


def test_tables_are_examined_once_a_day() -> None:
    now = timezone.now()
    table = _full_of_small_files("orders")
    new_table("new", state=Table.State.NEW)

    request_due_examination(now=now)
    request_due_examination(now=now + timedelta(minutes=1))

    job = Job.objects.get(kind=EXAMINE.name)
    EXAMINE.work(job.id)
    job.refresh_from_db()
    assert job.result == {"num_tables": 1, "num_findings": 1}
    table.refresh_from_db()
    assert table.health_checked_at is not None
    request_due_examination(now=now + timedelta(hours=2))
    assert Job.objects.filter(kind=EXAMINE.name).count() == 1
    request_due_examination(now=now + timedelta(hours=25))
    assert Job.objects.filter(kind=EXAMINE.name).count() == 2


def test_its_kind_is_known() -> None:
    assert kinds.all_kinds()[EXAMINE.name] is EXAMINE
