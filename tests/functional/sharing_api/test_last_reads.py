"""Which version a token has read last, noted beside the record of its calls."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.sharing.api.audit import CallRecord
from apps.sharing.models import LastRead
from tests.functional.sharing_api.calls import Caller, Lake, body_of, files


def noted() -> list[tuple[str, int]]:
    reads = LastRead.objects.select_related("token").order_by("id")
    return [(read.token.prefix, read.version) for read in reads]


def test_the_version_of_the_last_read_is_noted(acme: Caller, lake: Lake) -> None:
    files(acme.query(lake.path, {}))
    assert noted() == [(acme.token.prefix, 3)]

    files(acme.query(lake.path, {"version": 1}))
    assert noted() == [(acme.token.prefix, 1)]


def test_a_stream_of_versions_is_read_to_its_last(acme: Caller, lake: Lake) -> None:
    body_of(acme.query(lake.path, {"startingVersion": 1, "endingVersion": 2}))

    assert noted() == [(acme.token.prefix, 2)]


def test_what_is_no_read_is_not_noted(acme: Caller, lake: Lake) -> None:
    body_of(acme.get(f"{lake.path}/version"))
    body_of(acme.get(f"{lake.path}/metadata"))
    body_of(acme.query(lake.path, {"version": 99}))

    assert noted() == []


@pytest.mark.parametrize(
    ("status", "ended"), [(200, "client left"), (200, "broken"), (500, None)]
)
def test_what_did_not_arrive_is_not_noted(acme, lake, status: int, ended) -> None:
    record = CallRecord(
        action="table.query",
        at=timezone.now(),
        token=acme.token,
        shared_table=lake.shared,
        version=3,
        detail={"ended": ended} if ended else {},
    )

    record.save(status=status)

    assert noted() == []


def test_the_same_version_again_costs_no_query(acme: Caller, lake: Lake) -> None:
    files(acme.query(lake.path, {}))
    with CaptureQueriesContext(connection) as again:
        files(acme.query(lake.path, {}))

    assert not [one for one in again if "sharing_lastread" in one["sql"]]
