"""What `/metrics` says; no label names a table, a recipient or a person."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from apps.jobs.models import Job
from apps.notices.events import EventSubject, emit
from apps.notices.kinds.table_version import NEW_VERSION
from apps.operate.metrics import exposition
from apps.operate.metrics.counters import route_class
from tests.support.pages.factories import (
    new_recipient,
    new_table,
    new_token,
    signed_in,
)
from tests.unit.apps.notices.events.test_emitting import version

pytestmark = pytest.mark.django_db
LABELS = {"route", "status", "le", "action", "part", "switch"} | {
    *("kind", "state", "queue", "quantile"),
}


@pytest.fixture(autouse=True)
def _reads_again() -> Iterator[None]:
    exposition.collector.forget()
    yield
    exposition.collector.forget()


def samples() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    text = Client().get("/metrics").content.decode()
    return {
        (one.name, tuple(sorted(one.labels.items()))): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def test_counts_requests_by_class() -> None:
    key = ("deltaweb_requests_total", (("route", "page"), ("status", "3xx")))
    before = samples().get(key, 0)

    Client().get("/tables/")

    assert samples()[key] == before + 1


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/", "page"),
        ("/t/default/orders/", "page"),
        ("/tables.json", "json"),
        ("/api/v1/tables", "rest"),
        ("/delta-sharing/shares", "sharing"),
        ("/iceberg/v1/config", "iceberg"),
        ("/activate/x", "portal"),
    ],
)
def test_an_address_has_a_class(path: str, name: str) -> None:
    assert route_class(path) == name


def test_counts_calls_of_recipients() -> None:
    _, secret = new_token(new_recipient("acme"))
    key = (
        "deltaweb_sharing_calls_total",
        (("action", "share.list"), ("status", "2xx")),
    )
    before = samples().get(key, 0)

    headers = {"Authorization": f"Bearer {secret}"}
    Client().get("/delta-sharing/shares", headers=headers)

    assert samples()[key] == before + 1


def test_tells_of_jobs_and_tables() -> None:
    new_table("orders")
    Job.objects.create(kind="tables.index_log", title="x", created_at=timezone.now())

    found = samples()

    waiting = (("kind", "tables.index_log"), ("state", "queued"))
    assert found["deltaweb_jobs", waiting] == 1
    assert found["deltaweb_tables", (("state", "all"),)] == 1
    assert found["deltaweb_part_up", (("part", "database"),)] == 1
    assert found["deltaweb_switched_off", (("switch", "sharing"),)] == 0


def test_a_lag_is_of_a_new_version_and_not_of_a_table_that_is_indexed_first() -> None:
    now = timezone.now()
    old = now - timedelta(days=30)
    orders = new_table("orders", committed_at=old, indexed_at=now)
    subject = EventSubject("table", str(orders.id), orders.full_name)
    key = ("deltaweb_index_lag_seconds", (("quantile", "1"),))

    before = samples()
    commit = replace(version(22), committed_at=(now - timedelta(seconds=7)).isoformat())
    emit(NEW_VERSION, subject, commit, now=now, table_id=orders.id)
    exposition.collector.forget()

    assert key not in before
    assert samples()[key] == 7


def test_no_label_names_a_table_a_recipient_or_a_person() -> None:
    new_table("very_secret_orders")
    new_token(new_recipient("very_secret_recipient"))
    client = signed_in("very_secret_person")
    client.get("/t/default/very_secret_orders/")

    text = Client().get("/metrics").content.decode()

    assert "very_secret" not in text
    assert {*re.findall(r'(\w+)="', text)} <= LABELS
