"""The job that reads rows for a recipient, and what ends it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.utils import timezone

from apps.jobs.models import Job
from apps.sharing.access.waited_queries import READ_ROWS, cancel_queries
from apps.sharing.answers.rows import OfferedRows
from apps.sharing.models import (
    Grant,
    Recipient,
    Share,
    SharedTable,
)
from apps.sharing.portal.reading import MAX_ACTIVE
from tests.functional.portal.conftest import NewVisitor
from tests.functional.portal.visitors import Visitor, path_of, text_of, work
from tests.functional.sharing_api.ruled import Ruled, rows
from tests.support import cases
from tests.support.pages.factories import new_job, signed_in

OF_EU = "region = recipient.region"


class TestReading:
    def test_gives_nothing_once_the_terms_have_changed(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        acme.sign_in()
        acme.get(path_of(staff.shared))
        staff.rule(OF_EU)
        work()

        assert "does not exist" in str(Job.objects.get(kind=READ_ROWS).result)

    @cases(
        "end",
        {
            "the grant": lambda: Grant.objects.all().delete(),
            "the share": lambda: Share.objects.update(off_since=timezone.now()),
            "the switch": lambda: Share.objects.update(in_browser=False),
            "the table": lambda: SharedTable.objects.all().delete(),
            "the recipient": lambda: Recipient.objects.all().delete(),
        },
    )
    def test_gives_nothing_once_it_has_ended(
        self,
        acme: Visitor,
        staff: Ruled,
        end: Any,  # noqa: ANN401 (a change)
    ) -> None:
        acme.sign_in()
        acme.get(path_of(staff.shared))

        end()
        work()

        assert "refusal" in str(Job.objects.get(kind=READ_ROWS).result)

    def test_keeps_nothing_of_what_ended_while_it_read(
        self, acme: Visitor, staff: Ruled, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def ended_after(rows: OfferedRows) -> Iterator[pa.RecordBatch]:
            yield from rows.batches
            Grant.objects.all().delete()

        acme.sign_in()
        acme.get(path_of(staff.shared))
        monkeypatch.setattr(OfferedRows, "__iter__", ended_after)
        work()

        result = Job.objects.get(kind=READ_ROWS).result
        assert result is not None
        assert "does not exist" in result["refusal"]
        assert "rows" not in result

    def test_opens_no_file_outside_of_the_table(
        self, acme: Visitor, staff: Ruled, tmp_path: Path
    ) -> None:
        pq.write_table(rows(99, 1, "EU"), tmp_path / "outside.parquet")
        path = (tmp_path / "outside.parquet").as_uri()
        facts = {"path": path, "partitionValues": {}, "size": 900}
        added = {"add": {**facts, "modificationTime": 1, "dataChange": True}}
        log = Path(staff.shared.table.location) / "_delta_log"
        (log / f"{4:020d}.json").write_text(json.dumps(added))
        acme.sign_in()
        acme.get(path_of(staff.shared))
        work()

        assert "lies outside" in str(Job.objects.get(kind=READ_ROWS).result)
        assert "lies outside" in text_of(acme.get(path_of(staff.shared)))

    def test_is_cancelled_with_the_grant(self, acme: Visitor, staff: Ruled) -> None:
        acme.sign_in()
        acme.get(path_of(staff.shared))

        cancel_queries(acme.recipient, staff.shared.share, now=timezone.now())

        assert Job.objects.get(kind=READ_ROWS).state == Job.State.CANCELLED

    def test_is_done_once_for_all_pages_of_a_block(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        acme.sign_in()

        acme.rows(staff.shared)
        acme.rows(staff.shared, "?page=2")
        acme.rows(staff.shared)

        assert Job.objects.filter(kind=READ_ROWS).count() == 1

    def test_is_done_again_for_another_recipient(
        self, acme: Visitor, staff: Ruled, new_visitor: NewVisitor
    ) -> None:
        other = new_visitor("other", staff.shared.share)
        acme.sign_in()
        other.sign_in()

        acme.rows(staff.shared)
        other.rows(staff.shared)

        assert Job.objects.filter(kind=READ_ROWS).count() == 2

    def test_is_refused_where_too_much_is_under_way(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        acme.sign_in()
        for _ in range(MAX_ACTIVE):
            new_job(kind=READ_ROWS, parameters={"recipient": str(acme.recipient.id)})

        assert acme.get(path_of(staff.shared)).status_code == 429

    def test_is_seen_by_administrators_alone(self, acme: Visitor, staff: Ruled) -> None:
        acme.sign_in()
        acme.rows(staff.shared)
        job = Job.objects.get(kind=READ_ROWS)

        for role, status in (("VIEWER", 404), ("EDITOR", 404), ("ADMIN", 200)):
            client = signed_in(role.lower(), role=role)
            assert client.get(f"/jobs/{job.id}/").status_code == status
