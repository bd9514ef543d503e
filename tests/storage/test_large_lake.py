"""A bucket of many tables is registered by few requests.

There are more than a transaction registers, and, of a large lake (`pytest -m
exhaustive`), than a listing has names, which `test_object_scan` asks in every run; of
ten thousand tables `python -m tests.benchmarks scan` tells.
"""

import pytest

from apps.jobs.models import Job
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.tables.catalogue import scanning
from apps.tables.catalogue.lakes.scanning import scan_lake
from apps.tables.catalogue.lakes.services import add_lake
from apps.tables.models import Table
from apps.tables.storage.connections import add_connection
from tests.support import cases
from tests.support.pages.factories import NOW
from tests.support.stores.s3_server import S3Server, counted_requests
from tests.support.stores.seaweed_server import fill_lake

STAMP = Stamp(COMMAND_LINE, NOW)


@cases(
    "a_namespace, batch",
    {"a small lake": (110, 50), "a large lake": (1_010, scanning.SCAN_BATCH)},
    often=["a small lake"],
)
@pytest.mark.django_db
def test_registers_many_tables(seaweed: S3Server, monkeypatch, a_namespace, batch):
    monkeypatch.setattr(scanning, "SCAN_BATCH", batch)
    num_tables = a_namespace + 30
    last_batch = num_tables // batch * batch
    num_batches = last_batch // batch + 1
    url = fill_lake(seaweed, num_tables=num_tables, a_namespace=a_namespace)
    options = dict(text.split("=", 1) for text in seaweed.option_texts)
    add_connection(name="large", prefix=url, options=options, stamp=STAMP)
    told: list[tuple[int, str]] = []
    seconds = iter([1.0])  # the clock goes back: all are registered at the end

    with counted_requests() as requests:
        report = scan_lake(
            add_lake(url, stamp=STAMP),
            stamp=STAMP,
            on_progress=lambda _step, done, _total, unit: told.append((done, unit)),
            clock=lambda: next(seconds, 0.0),
        )

    assert (report.num_found, len(report.registered)) == (num_tables, num_tables)
    assert (report.num_folders, report.unreadable) == (num_tables + 3, [])
    in_second = f"t{a_namespace + 24:05}"
    assert Table.objects.get(name=in_second).full_name == f"n001.{in_second}"
    assert len(requests) <= 3 * num_tables
    assert told[-1] == (last_batch, "tables")
    assert "tables in" in told[-num_batches - 1][1]
    waiting = Job.objects.waiting().filter(kind="tables.index_log")
    assert waiting.count() == num_tables
    assert waiting.filter(woken_at=None).count() == num_tables - num_batches * 8
