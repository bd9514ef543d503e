"""A bucket of ten thousand tables is registered by few requests and few statements."""

import pytest

from deltaweb.web.jobs.models import Job
from deltaweb.web.pages.actions import COMMAND_LINE
from deltaweb.web.tables.catalogue.lakes.scanning import scan_lake
from deltaweb.web.tables.catalogue.lakes.services import add_lake
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.storage.connections import add_connection
from tests.support.pages.factories import NOW
from tests.support.stores.s3_server import S3Server, counted_requests
from tests.support.stores.seaweed_server import fill_lake

NUM_TABLES = 10_000


@pytest.mark.django_db
def test_registers_ten_thousand_tables(seaweed: S3Server) -> None:
    url = fill_lake(seaweed, num_tables=NUM_TABLES)
    options = dict(text.split("=", 1) for text in seaweed.option_texts)
    add_connection(
        name="large", prefix=url, options=options, actor=COMMAND_LINE, now=NOW
    )
    told: list[tuple[int, str]] = []

    with counted_requests() as requests:
        report = scan_lake(
            add_lake(url, now=NOW),
            now=NOW,
            on_progress=lambda _step, done, _total, unit: told.append((done, unit)),
        )

    assert (report.num_found, len(report.registered)) == (NUM_TABLES, NUM_TABLES)
    assert (report.num_folders, report.unreadable) == (NUM_TABLES + 101, [])
    assert Table.objects.get(name="t01234").full_name == "n012.t01234"
    assert len(requests) <= 3 * NUM_TABLES
    assert told[-1] == (NUM_TABLES - 500, "tables")
    assert "tables in" in told[-21][1]
    waiting = Job.objects.waiting().filter(kind="tables.index_log")
    assert waiting.count() == NUM_TABLES
    assert waiting.filter(woken_at=None).count() == NUM_TABLES - 20 * 8
