"""Queries that are answered later: asked for, looked after, and read in pages."""

import json
import uuid
from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.jobs import kinds
from apps.jobs.models import Job
from apps.jobs.results import result_path
from apps.jobs.visibility import visible_jobs
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.sharing.models import Grant
from apps.sharing.recipients.services import ungrant
from tests.functional.sharing_api.calls import (
    Answer,
    Caller,
    Lake,
    days,
    lines,
    refused,
)
from tests.functional.sharing_api.ends import (
    IN_DELTA,
    end_of,
    head_of,
    ids_of,
    later,
    share_with,
)
from tests.support import matrix
from tests.support.pages.factories import NOW, new_user

LATER: dict[str, Any] = {"delta-sharing-capabilities": "asyncquery=true"}
MISSING = "RESOURCE_DOES_NOT_EXIST"


def submit(caller: Caller, lake: Lake, body: dict[str, Any] | None = None) -> str:
    """Send a query that is answered later; return its id."""
    answer = caller.query(lake.path, body or {}, **LATER)
    assert answer.status_code == 200, answer.content
    assert answer["delta-sharing-capabilities"] == "asyncquery=true"
    assert answer["Content-Type"] == "application/x-ndjson; charset=utf-8"
    assert "Delta-Table-Version" not in answer
    (line,) = lines(answer)
    assert line["queryStatus"]["status"] == "pending"
    query_id: str = line["queryStatus"]["queryId"]
    return query_id


def work() -> None:
    """Do what waits, as a worker does."""
    for job in Job.objects.waiting():
        kinds.all_kinds()[job.kind].work(job.id)


def read(caller, lake, query_id, body=None, **headers):
    """Ask after a query."""
    text = b"" if body is None else json.dumps(body).encode()
    return caller.ask("POST", f"{lake.path}/queries/{query_id}", text, **headers)


def status_of(answer: Answer) -> dict[str, Any]:
    (line,) = lines(answer)
    status: dict[str, Any] = line["queryStatus"]
    return status


class TestLaterAnswers:
    @matrix(
        "body, headers",
        product(
            [
                {},
                {"version": 2},
                {"timestamp": "2026-02-01T02:30:00Z"},
                {"predicateHints": ["day = '2026-01-02'"]},
                {"limitHint": 5},
            ],
            [{}, IN_DELTA],
        ),
    )
    def test_are_those_that_come_at_once(self, acme, lake, body, headers) -> None:
        query_id = submit(acme, lake, body)
        assert status_of(read(acme, lake, query_id)) == {
            "queryId": query_id,
            "status": "pending",
        }
        work()

        answer = read(acme, lake, query_id, **headers)

        whole = acme.query(lake.path, body, **headers)
        assert head_of(answer) == head_of(whole)
        assert ids_of(answer) == ids_of(whole)
        assert [set(line) for line in lines(answer)] == [
            set(line) for line in lines(whole)
        ]
        for name in ("Delta-Table-Version", "delta-sharing-capabilities"):
            assert answer[name] == whole[name]

    def test_tell_nobody_else_who_asks(self, acme: Caller, lake: Lake) -> None:
        job = Job.objects.get(id=submit(acme, lake))

        assert "acme" not in job.title
        assert job not in visible_jobs(new_user("vera", role=User.Role.VIEWER))

    def test_come_in_pages(self, acme: Caller, lake: Lake) -> None:
        query_id = submit(acme, lake)
        work()
        lake.append("2026-01-09")

        first = read(acme, lake, query_id, {"maxFiles": 2})
        token = end_of(first)["nextPageToken"]
        second = read(acme, lake, query_id, {"maxFiles": 2, "pageToken": token})

        assert head_of(first) == head_of(second)
        assert len({*ids_of(first), *ids_of(second)}) == 3
        assert "nextPageToken" not in end_of(second)

    def test_are_of_one_job_when_a_client_repeats_itself(self, acme, lake) -> None:
        body = {"idempotencyKey": "k1", "limitHint": 5}
        first = submit(acme, lake, body)

        assert submit(acme, lake, body) == first
        assert submit(acme, lake, {**body, "idempotencyKey": "k2"}) != first
        assert submit(acme, lake, {**body, "limitHint": 6}) != first
        assert submit(acme, lake) != submit(acme, lake)
        work()
        assert submit(acme, lake, body) == first

    def test_are_of_another_job_for_another_recipient(self, acme, lake, new_caller):
        globex = new_caller("globex", lake.shared.share)
        body = {"idempotencyKey": "k1"}
        query_id = submit(acme, lake, body)

        assert submit(globex, lake, body) != query_id
        refused(read(globex, lake, query_id), MISSING, 404)

    @pytest.mark.parametrize(
        "query_id", ["x", str(uuid.UUID(int=7)), "%00", "é", "0" * 400, "1" * 32]
    )
    def test_of_no_query_are_refused(self, acme, lake, query_id: str) -> None:
        refused(read(acme, lake, query_id), MISSING, 404)

    def test_are_kept_for_an_hour(self, acme, lake, monkeypatch) -> None:
        body = {"idempotencyKey": "k1"}
        query_id = submit(acme, lake, body)
        work()
        later(monkeypatch, timedelta(minutes=61))

        message = refused(read(acme, lake, query_id), MISSING, 404)
        assert "kept for an hour" in message
        assert submit(acme, lake, body) != query_id

    def test_that_are_gone_from_the_disk_are_asked_for_again(self, acme, lake) -> None:
        query_id = submit(acme, lake)
        work()
        result_path(query_id).unlink()

        assert read(acme, lake, query_id).status_code == 404

    def test_say_why_there_is_none(self, acme: Caller, lake: Lake) -> None:
        share_with(lake, with_history=False)
        query_id = submit(acme, lake, {"version": 1})
        work()

        status = status_of(read(acme, lake, query_id))

        assert status["status"] == "failed"
        assert "not shared with its history" in status["errorMessage"]

    def test_tell_nothing_of_a_table_that_does_not_read(self, acme, lake) -> None:
        query_id = submit(acme, lake)
        for commit in (lake.root / "_delta_log").iterdir():
            commit.unlink()
        work()

        status = status_of(read(acme, lake, query_id))

        assert status["status"] == "failed"
        assert str(lake.root) not in status["errorMessage"]

    def test_of_a_part_of_a_table_come_at_once(self, acme: Caller, lake: Lake) -> None:
        share_with(lake, condition="day >= '2026-01-02'")

        answer = acme.query(lake.path, {}, **LATER)

        assert days(answer) == ["2026-01-02", "2026-01-03"]

    def test_are_gone_when_a_part_alone_is_shared_since(self, acme, lake) -> None:
        query_id = submit(acme, lake)
        work()
        share_with(lake, condition="day >= '2026-01-03'")

        assert read(acme, lake, query_id).status_code == 404

    def test_are_not_found_when_a_part_alone_is_shared_meanwhile(self, acme, lake):
        query_id = submit(acme, lake)
        share_with(lake, condition="day >= '2026-01-03'")
        work()
        share_with(lake, condition="")

        assert status_of(read(acme, lake, query_id))["status"] == "failed"

    def test_are_cancelled_with_the_grant(self, acme: Caller, lake: Lake) -> None:
        query_id = submit(acme, lake)
        share = lake.shared.share
        ungrant(share, acme.recipient, stamp=Stamp(COMMAND_LINE, NOW))

        assert read(acme, lake, query_id).status_code == 404
        assert Job.objects.get(id=query_id).state == Job.State.CANCELLED

    def test_are_not_found_when_the_grant_ends_meanwhile(self, acme, lake) -> None:
        query_id = submit(acme, lake)
        grant = Grant.objects.get()
        grant.delete()
        work()
        Grant.objects.create(
            share=grant.share, recipient=grant.recipient, granted_at=NOW
        )

        assert status_of(read(acme, lake, query_id))["status"] == "failed"

    def test_are_refused_with_the_page_of_another_query(self, acme, lake) -> None:
        ids = [submit(acme, lake), submit(acme, lake)]
        work()
        token = end_of(read(acme, lake, ids[0], {"maxFiles": 1}))["nextPageToken"]

        answer = read(acme, lake, ids[1], {"pageToken": token})

        assert "pageToken" in refused(answer)

    def test_are_for_snapshots(self, acme: Caller, lake: Lake) -> None:
        """Changes come at once, which the protocol leaves to a server."""
        answer = acme.query(lake.path, {"startingVersion": 1}, **LATER)

        assert answer["Delta-Table-Version"] == "1"
        assert "asyncquery" not in answer["delta-sharing-capabilities"]

    def test_are_recorded_with_their_files(self, acme: Caller, lake: Lake) -> None:
        query_id = submit(acme, lake)
        read(acme, lake, query_id)
        work()
        lines(read(acme, lake, query_id))

        events = [*AuditEvent.objects.order_by("id")]
        assert [(event.action, event.num_files) for event in events] == [
            ("table.query", None),
            ("table.query_status", None),
            ("table.query", 3),
        ]
        assert events[0].detail == {"is_answered_later": True}
