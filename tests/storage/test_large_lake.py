"""A bucket of thousands of tables is registered by few requests.

There are more than a listing has names, and than a transaction registers; of ten
thousand tables `python -m tests.benchmarks scan` tells.
"""

import pytest

from deltaweb.web.jobs.models import Job
from deltaweb.web.pages.actions import COMMAND_LINE, Stamp
from deltaweb.web.tables.catalogue.lakes.scanning import scan_lake
from deltaweb.web.tables.catalogue.lakes.services import add_lake
from deltaweb.web.tables.catalogue.scanning import SCAN_BATCH
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.storage.connections import add_connection
from tests.support.pages.factories import NOW
from tests.support.stores.s3_server import S3Server, counted_requests
from tests.support.stores.seaweed_server import fill_lake

STAMP = Stamp(COMMAND_LINE, NOW)

A_NAMESPACE = 1_010
NUM_TABLES = A_NAMESPACE + 30
LAST_BATCH = NUM_TABLES // SCAN_BATCH * SCAN_BATCH
NUM_BATCHES = LAST_BATCH // SCAN_BATCH + 1


@pytest.mark.django_db
def test_registers_thousands_of_tables(seaweed: S3Server) -> None:
    url = fill_lake(seaweed, num_tables=NUM_TABLES, a_namespace=A_NAMESPACE)
    options = dict(text.split("=", 1) for text in seaweed.option_texts)
    add_connection(name="large", prefix=url, options=options, stamp=STAMP)
    told: list[tuple[int, str]] = []

    with counted_requests() as requests:
        report = scan_lake(
            add_lake(url, stamp=STAMP),
            stamp=STAMP,
            on_progress=lambda _step, done, _total, unit: told.append((done, unit)),
        )

    assert (report.num_found, len(report.registered)) == (NUM_TABLES, NUM_TABLES)
    assert (report.num_folders, report.unreadable) == (NUM_TABLES + 3, [])
    assert Table.objects.get(name="t01034").full_name == "n001.t01034"
    assert len(requests) <= 3 * NUM_TABLES
    assert told[-1] == (LAST_BATCH, "tables")
    assert "tables in" in told[-NUM_BATCHES - 1][1]
    waiting = Job.objects.waiting().filter(kind="tables.index_log")
    assert waiting.count() == NUM_TABLES
    assert waiting.filter(woken_at=None).count() == NUM_TABLES - NUM_BATCHES * 8
