"""The files in which a recipient downloads rows."""

import io
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone
from openpyxl import load_workbook

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.pages.templatetags.deltaweb import size as size_text
from apps.sharing.access.waited_queries import READ_ROWS
from apps.sharing.models import Recipient
from apps.sharing.portal.reading import MAX_ACTIVE
from apps.tables.models import Table
from tests.functional.portal.visitors import (
    OWN,
    Answer,
    Visitor,
    path_of,
    text_of,
    work,
)
from tests.functional.sharing_api.calls import body_of
from tests.functional.sharing_api.ruled import Ruled, rows
from tests.support import cases

OF_EU = "region = recipient.region"
SEEN = [0, 1, 2, 3, 4, 10, 11, 12]


def downloaded(
    visitor: Visitor,
    staff: Ruled,
    fmt: str,
    **form: Any,  # noqa: ANN401 (of a form)
) -> bytes:
    """The bytes of a download, which was waited for."""
    path = f"{path_of(staff.shared)}/download"
    answer = visitor.post(path, {"format": fmt, **form})
    assert answer.status_code == 302, answer.content
    assert "being prepared" in text_of(visitor.get(answer.url))
    work()
    assert "The file is ready" in text_of(visitor.get(answer.url))
    answer = visitor.post(path, {"format": fmt, **form})
    assert answer.status_code == 200
    assert answer["Content-Disposition"].startswith("attachment")
    assert f"hr.staff.{fmt}" in answer["Content-Disposition"]
    assert answer["Cache-Control"] == "no-store"
    return body_of(answer)


def read(fmt: str, body: bytes) -> tuple[list[str], list[list[Any]]]:
    """The header and the rows of a file."""
    if fmt == "csv":
        first, *others = body.decode().splitlines()
        return first.split(","), [line.split(",") for line in others]
    if fmt == "parquet":
        table = pq.read_table(io.BytesIO(body))
        return table.column_names, [list(row.values()) for row in table.to_pylist()]
    sheet = load_workbook(io.BytesIO(body)).active
    assert sheet is not None
    header, *lines = ([cell.value for cell in row] for row in sheet.iter_rows())
    return [str(name) for name in header], lines


def sizes(text: str) -> dict[str, int]:
    """The sizes beside the buttons that are estimated in bytes, by format."""
    found = re.findall(r"(CSV|XLSX|Parquet) about ([\d,]+) B", text)
    return {label.lower(): int(size.replace(",", "")) for label, size in found}


@pytest.fixture
def part(acme: Visitor, staff: Ruled) -> Ruled:
    """The table, of which acme sees a part, and is signed in."""
    staff.rule(OF_EU, "id", "note")
    staff.prepare()
    acme.sign_in()
    return staff


class TestDownloads:
    @pytest.mark.parametrize("fmt", ["csv", "parquet", "xlsx"])
    def test_have_what_the_recipient_sees(
        self, acme: Visitor, part: Ruled, fmt: str
    ) -> None:
        body = downloaded(acme, part, fmt)

        header, found = read(fmt, body)
        assert header == ["id", "note"]
        assert sorted(int(row[0]) for row in found) == SEEN
        for hidden in (b"secret", b"salary", b"region", OF_EU.encode()):
            assert hidden not in body

    def test_have_the_rows_of_the_conditions(self, acme: Visitor, part: Ruled) -> None:
        body = downloaded(acme, part, "csv", f=["id:ge:3", "id:lt:12"], sort="-id")

        assert [row[0] for row in read("csv", body)[1]] == ["11", "10", "4", "3"]

    def test_run_no_formula(self, acme: Visitor, staff: Ruled) -> None:
        staff.table.append(rows(50, 1, "EU", '=HYPERLINK("http://evil.example")'))
        acme.sign_in()

        csv = downloaded(acme, staff, "csv", f="id:eq:50").decode()
        sheet = load_workbook(
            io.BytesIO(downloaded(acme, staff, "xlsx", f="id:eq:50"))
        ).active

        assert "'=HYPERLINK" in csv
        assert sheet is not None
        cell = sheet["D2"]
        assert (cell.data_type, cell.hyperlink) == ("s", None)

    @cases(
        "form",
        {"no format": {}, "another": {"format": "exe"}, "a path": {"format": "../x"}},
    )
    def test_are_of_known_formats(
        self, acme: Visitor, part: Ruled, form: dict[str, str]
    ) -> None:
        answer = acme.post(f"{path_of(part.shared)}/download", form)

        assert answer.status_code == 400
        assert "no download in this format" in text_of(answer)

    def test_need_a_form_of_the_session(self, acme: Visitor, part: Ruled) -> None:
        path = f"{path_of(part.shared)}/download"

        assert acme.get(path).status_code == 405
        answer = acme.client.post(path, {"format": "csv"})

        assert answer.status_code == 403
        assert not Job.objects.filter(kind=READ_ROWS).exists()

    def test_begin_nothing_by_a_look_at_their_page(
        self, acme: Visitor, part: Ruled
    ) -> None:
        answer = acme.get(f"{path_of(part.shared)}/file?format=csv")

        assert "Nothing is being prepared" in text_of(answer)
        assert not Job.objects.filter(kind=READ_ROWS).exists()

    def test_of_another_recipient_are_not_there(
        self,
        acme: Visitor,
        part: Ruled,
        new_visitor: Any,  # noqa: ANN401 (a fixture)
    ) -> None:
        downloaded(acme, part, "csv")
        other = new_visitor("other", part.shared.share, properties={"region": "US"})
        other.sign_in()
        part.prepare()

        answer = other.get(f"{path_of(part.shared)}/file?format=csv")

        assert "Nothing is being prepared" in text_of(answer)

    def test_that_were_begun_are_not_lost_with_a_new_version(
        self, acme: Visitor, part: Ruled
    ) -> None:
        path = f"{path_of(part.shared)}/download"
        waiting = acme.post(path, {"format": "csv"}).url
        work()
        part.table.append(rows(50, 1, "EU", "later"))
        part.prepare()

        page = acme.get(waiting).content.decode()
        sent = dict(re.findall(r'name="(job|format)" value="([^"]+)"', page))
        answer = acme.post(path, sent)

        assert "The file is ready" in text_of(acme.get(waiting))
        assert answer.status_code == 200
        assert sorted(int(row[0]) for row in read("csv", body_of(answer))[1]) == SEEN
        event = AuditEvent.objects.get(action="portal.download")
        assert (event.version, event.num_rows) == (3, len(SEEN))
        assert Job.objects.filter(kind=READ_ROWS).count() == 1

    @cases(
        "end",
        {
            "under another rule": lambda staff: staff.rule("id = 1", "id"),
            "an hour ago": lambda _: Job.objects.update(
                created_at=timezone.now() - timedelta(hours=1)
            ),
        },
    )
    def test_that_were_begun_are_not_given_out(
        self, acme: Visitor, part: Ruled, end: Callable[[Ruled], object]
    ) -> None:
        path = f"{path_of(part.shared)}/download"
        waiting = acme.post(path, {"format": "csv"}).url
        work()
        job = Job.objects.get(kind=READ_ROWS)
        part.table.append(rows(50, 1, "EU", "later"))
        end(part)
        part.prepare()

        answer = acme.post(path, {"format": "csv", "job": str(job.id)})

        assert answer.status_code == 302  # to a reading of its own
        assert str(job.id) not in answer.url
        assert "The file is ready" not in text_of(acme.get(waiting))

    @cases("form", {"a sort": {"sort": "id"}, "a condition": {"f": "id:ge:3"}})
    def test_that_were_begun_are_not_those_of_another_query(
        self, acme: Visitor, part: Ruled, form: dict[str, str]
    ) -> None:
        path = f"{path_of(part.shared)}/download"
        acme.post(path, {"format": "csv"})
        work()
        job = Job.objects.get(kind=READ_ROWS)

        answer = acme.post(path, {"format": "csv", "job": str(job.id), **form})

        assert answer.status_code == 302
        assert str(job.id) not in answer.url

    @pytest.mark.parametrize("job", ["", "x", "\0", "0" * 32, "é" * 50])
    def test_begin_anew_without_a_job_that_is_known(
        self, acme: Visitor, part: Ruled, job: str
    ) -> None:
        path = f"{path_of(part.shared)}/download"

        answer = acme.post(path, {"format": "csv", "job": job})

        assert answer.status_code == 302

    def test_that_another_recipient_has_begun_are_not_given_out(
        self,
        acme: Visitor,
        staff: Ruled,
        new_visitor: Any,  # noqa: ANN401 (a fixture)
    ) -> None:
        acme.sign_in()
        path = f"{path_of(staff.shared)}/download"
        acme.post(path, {"format": "csv"})
        work()
        job = Job.objects.get(kind=READ_ROWS)
        other = new_visitor("other", staff.shared.share)
        other.sign_in()

        answer = other.post(path, {"format": "csv", "job": str(job.id)})

        assert answer.status_code == 302
        assert str(job.id) not in answer.url

    @cases(
        "site, count",
        {"its own page": ("same-origin", 1), "another site": ("cross-site", 0)},
    )
    def test_begin_by_themselves_for(
        self, acme: Visitor, part: Ruled, site: str, count: int
    ) -> None:
        downloaded(acme, part, "csv")
        path = f"{path_of(part.shared)}/file?format=csv"

        page = acme.get(path, headers={"Sec-Fetch-Site": site}).content.decode()

        assert page.count("data-begin") == count

    def test_say_how_far_they_are(self, acme: Visitor, staff: Ruled) -> None:
        acme.sign_in()
        waiting = acme.post(f"{path_of(staff.shared)}/download", {"format": "csv"}).url
        Job.objects.filter(kind=READ_ROWS).update(progress_done=7)

        assert "7 of 15 rows" in text_of(acme.get(waiting))

    def test_have_their_size_beside_the_button(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        acme.sign_in()
        acme.rows(staff.shared)
        path = path_of(staff.shared)

        before = text_of(acme.get(path))
        about = sizes(before)
        csv = downloaded(acme, staff, "csv")
        sheet = downloaded(acme, staff, "xlsx")

        counted = size_text(staff.table.snapshot().size_bytes)
        assert f"Parquet about {counted}" in before
        assert abs(about["csv"] - len(csv)) < 100
        of_sheet = re.search(r"XLSX about ([\d.]+) KiB", before)
        assert of_sheet is not None
        assert abs(float(of_sheet[1]) * 1024 - len(sheet)) < 1_000
        assert f"XLSX {size_text(len(sheet))}" in text_of(acme.get(path))

    def test_have_no_size_if_the_rows_are_not_counted(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        acme.sign_in()

        text = text_of(acme.get(path_of(staff.shared)))

        assert text.count("size not known") == 2
        work()
        part = acme.get(path_of(staff.shared), headers={"HX-Request": "true"})
        assert part.content.decode().count('hx-swap-oob="true"') == 3
        assert "size not known" not in text_of(part)

    def test_of_too_many_rows_for_a_sheet_begin_nothing(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        Table.objects.update(num_records=1_048_576)
        acme.sign_in()

        page = acme.get(path_of(staff.shared)).content.decode()
        answer = acme.post(f"{path_of(staff.shared)}/download", {"format": "xlsx"})

        assert 'value="xlsx" disabled' in page
        assert answer.status_code == 422
        assert "An XLSX sheet holds 1,048,575 rows" in text_of(answer)
        assert Job.objects.filter(kind=READ_ROWS).count() == 1  # of the page

    def test_of_too_long_a_value_are_refused_by_name(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        staff.table.append(rows(50, 1, "EU", "x" * 40_000))
        acme.sign_in()
        path = f"{path_of(staff.shared)}/download"

        answer = acme.post(path, {"format": "xlsx"})
        work()

        assert "32,767 characters" in text_of(acme.get(answer.url))


class TestTheBudget:
    def test_is_counted_for_each_download(self, acme: Visitor, part: Ruled) -> None:
        downloaded(acme, part, "csv")
        downloaded_size = Job.objects.get(kind=READ_ROWS).result["size_bytes"]  # type: ignore[index]  # it is done

        acme.post(f"{path_of(part.shared)}/download", {"format": "csv"})

        events = AuditEvent.objects.filter(action="portal.download", status=200)
        assert (
            list(events.values_list("size_bytes", "num_rows", "recipient"))
            == [(downloaded_size, len(SEEN), "acme")] * 2
        )

    def test_refuses_what_counts_more_than_is_left(
        self, acme: Visitor, part: Ruled
    ) -> None:
        Recipient.objects.update(hard_limit_bytes=10)

        answer = acme.post(f"{path_of(part.shared)}/download", {"format": "csv"})

        assert answer.status_code == 403
        assert "10 B are left this month" in text_of(answer)
        assert not Job.objects.filter(kind=READ_ROWS).exists()

    def test_leaves_room_for_the_files_of_fewer_rows(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        acme.sign_in()
        too_little = staff.table.snapshot().size_bytes - 1
        Recipient.objects.update(hard_limit_bytes=too_little)
        path = f"{path_of(staff.shared)}/download"

        everything = acme.post(path, {"format": "csv"})
        of_one_file = acme.post(path, {"format": "csv", "f": "id:lt:3"})

        assert everything.status_code == 403
        assert of_one_file.status_code == 302

    def test_refuses_a_file_that_is_ready_as_well(
        self, acme: Visitor, part: Ruled
    ) -> None:
        downloaded(acme, part, "csv")
        size = AuditEvent.objects.get(action="portal.download").size_bytes
        assert size
        Recipient.objects.update(hard_limit_bytes=size + 1)

        answer = acme.post(f"{path_of(part.shared)}/download", {"format": "csv"})

        assert answer.status_code == 403
        assert AuditEvent.objects.filter(action="portal.download").count() == 2


@pytest.mark.django_db(transaction=True)
def test_downloads_at_once_share_one_budget(acme: Visitor, staff: Ruled) -> None:
    acme.sign_in()
    downloaded(acme, staff, "csv")
    size = AuditEvent.objects.get(action="portal.download").size_bytes
    assert size
    Recipient.objects.update(hard_limit_bytes=4 * size)
    sent = {"form": acme.form_token(), "format": "csv"}
    path = f"{path_of(staff.shared)}/download"

    statuses = at_once(acme, 16, lambda client, _: client.post(path, sent, headers=OWN))

    assert statuses == [200] * 3 + [403] * 13


@pytest.mark.django_db(transaction=True)
def test_readings_at_once_share_one_limit(acme: Visitor, staff: Ruled) -> None:
    acme.sign_in()
    path = path_of(staff.shared)

    statuses = at_once(
        acme, 20, lambda client, place: client.get(f"{path}?f=id:ge:-{place}")
    )

    assert statuses == [200] * MAX_ACTIVE + [429] * (20 - MAX_ACTIVE)
    assert Job.objects.active().filter(kind=READ_ROWS).count() == MAX_ACTIVE


def at_once(
    visitor: Visitor, count: int, ask: Callable[[Client, int], Answer]
) -> list[int]:
    """Return the statuses of requests of one session at the same time."""

    def status_of(place: int) -> int:
        client = Client(raise_request_exception=False)
        client.cookies[settings.RECIPIENT_COOKIE_NAME] = visitor.cookie
        try:
            return int(ask(client, place).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        return sorted(pool.map(status_of, range(count)))
