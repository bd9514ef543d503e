"""The rows that a recipient reads in the browser, and what it does not see there."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.sharing.access.waited_queries import READ_ROWS
from apps.sharing.models import (
    LastRead,
    Recipient,
    RecipientRule,
    Share,
)
from apps.tables.models import Table
from tests.functional.portal.conftest import NewVisitor
from tests.functional.portal.visitors import Visitor, path_of, text_of, work
from tests.functional.sharing_api.ruled import Ruled
from tests.support import cases
from tests.support.pages.factories import new_shared_table

OF_EU = "region = recipient.region"


def ids(rows: list[list[str]]) -> list[int]:
    return sorted(int(row[0]) for row in rows)


class TestRows:
    def test_are_read_by_a_job(self, acme: Visitor, staff: Ruled) -> None:
        acme.sign_in()

        assert "Reading rows" in text_of(acme.get(path_of(staff.shared)))
        assert Job.objects.get(kind=READ_ROWS).state == Job.State.QUEUED

        assert ids(acme.rows(staff.shared)) == list(range(15))

    def test_are_those_of_the_rule(self, acme: Visitor, staff: Ruled) -> None:
        staff.rule(OF_EU, "id", "note")
        staff.prepare()
        acme.sign_in()

        rows = acme.rows(staff.shared)

        assert ids(rows) == [0, 1, 2, 3, 4, 10, 11, 12]
        assert {len(row) for row in rows} == {2}
        page = acme.get(path_of(staff.shared)).content.decode()
        text = page.replace('role="region"', "")
        for hidden in ("secret", "salary", "region", "7000001", OF_EU):
            assert hidden not in text

    def test_are_other_ones_for_another_recipient(
        self, acme: Visitor, staff: Ruled, new_visitor: NewVisitor
    ) -> None:
        staff.rule(OF_EU)
        other = new_visitor("other", staff.shared.share, properties={"region": "US"})
        staff.prepare()
        acme.sign_in()
        other.sign_in()

        of_acme, of_other = acme.rows(staff.shared), other.rows(staff.shared)

        assert ids(of_acme) == [0, 1, 2, 3, 4, 10, 11, 12]
        assert ids(of_other) == [5, 6, 7, 8, 9, 13, 14]

    def test_of_a_narrower_rule_are_those_of_both(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        staff.rule(OF_EU)
        RecipientRule.objects.create(
            shared_table=staff.shared, recipient=acme.recipient, condition="id < 3"
        )
        staff.prepare()
        acme.sign_in()

        assert ids(acme.rows(staff.shared)) == [0, 1, 2]

    def test_are_counted_as_the_recipient_sees_them(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        staff.rule(OF_EU)
        staff.prepare()
        acme.sign_in()

        text = text_of(acme.get())

        assert "8 rows" in text
        assert "a part of this table" in text
        assert "not shown" in text
        assert "NULL" not in text
        assert "15 rows" not in text  # of the whole table; a time may have 15 minutes
        assert "of 15" not in text
        assert "EU" not in text

    def test_wait_until_the_part_is_ready(self, acme: Visitor, staff: Ruled) -> None:
        staff.rule(OF_EU)
        acme.sign_in()

        answer = acme.get(path_of(staff.shared))

        assert answer.status_code == 409
        assert not Job.objects.filter(kind=READ_ROWS).exists()

    def test_deleted_by_a_vector_are_not_there(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        staff.table.set_properties(
            {"delta.enableDeletionVectors": "true"}, upgrade=True
        )
        staff.table.delete("id IN (1, 11)")
        acme.sign_in()

        assert ids(acme.rows(staff.shared)) == [
            n for n in range(15) if n not in (1, 11)
        ]

    def test_of_a_long_table_come_in_pages(self, acme: Visitor, staff: Ruled) -> None:
        more = pa.table(
            {
                "id": pa.array(range(100, 700), pa.int64()),
                "region": ["EU"] * 600,
                "salary": pa.array([1] * 600, pa.int64()),
                "note": [""] * 600,
            }
        )
        staff.table.append(more)
        acme.sign_in()

        seen = [
            number
            for page in range(1, 14)
            for number in ids(acme.rows(staff.shared, f"?page={page}"))
        ]

        assert sorted(seen) == [*range(15), *range(100, 700)]
        assert "No rows" in text_of(acme.get(f"{path_of(staff.shared)}?page=14"))


class TestConditions:
    @cases(
        "asked, expected",
        {
            "equal": ("f=id:eq:3", [3]),
            "between": ("f=id:ge:3&f=id:lt:5", [3, 4]),
            "text": ("f=region:eq:US", [5, 6, 7, 8, 9, 13, 14]),
            "part of a text": ("f=note:contains:n-1", [1, 10, 11, 12]),
            "none": ("f=note:null", []),
            "a quote": ("f=note:eq:%27%20OR%201=1%20--", []),
            "an order": ("f=id:lt:3&sort=-salary", [0, 1, 2]),
        },
    )
    def test_choose_rows(
        self, acme: Visitor, staff: Ruled, asked: str, expected: list[int]
    ) -> None:
        acme.sign_in()

        assert ids(acme.rows(staff.shared, f"?{asked}")) == expected

    def test_are_added_by_the_form(self, acme: Visitor, staff: Ruled) -> None:
        acme.sign_in()

        form = "?f=id:gt:2&fc=id&fo=lt&fv=5"
        answer = acme.get(f"{path_of(staff.shared)}{form}")

        assert answer.url.endswith("?f=id%3Agt%3A2&f=id%3Alt%3A5")

    def test_sort_all_rows(self, acme: Visitor, staff: Ruled) -> None:
        acme.sign_in()

        rows = acme.rows(staff.shared, "?sort=-salary")

        assert [int(row[0]) for row in rows] == list(range(14, -1, -1))

    @cases(
        "asked",
        {
            "eq": "f={}:eq:7",
            "null": "f={}:null",
            "sort": "sort={}",
            "reversed": "sort=-{}",
            "form": "fc={}&fo=eq&fv=7",
        },
    )
    def test_on_a_hidden_column_are_as_on_a_missing_one(
        self, acme: Visitor, staff: Ruled, asked: str
    ) -> None:
        staff.rule("", "id", "note")
        staff.prepare()
        acme.sign_in()

        def answered(column: str) -> tuple[int, str]:
            path = f"{path_of(staff.shared)}?{asked.format(column)}"
            answer = acme.client.get(path, follow=True)
            text = text_of(answer).replace(column, "?")
            return answer.status_code, text.partition(" Request ")[0]

        assert answered("salary") == answered("wages_")
        assert answered("salary")[0] == 400
        assert not Job.objects.filter(kind=READ_ROWS).exists()

    def test_tell_nothing_of_hidden_rows(self, acme: Visitor, staff: Ruled) -> None:
        staff.rule(OF_EU)
        staff.prepare()
        acme.sign_in()

        def told(value: str) -> tuple[str, Any]:
            path = f"{path_of(staff.shared)}?f=note:eq:{value}"
            acme.get(path)
            work()
            text = text_of(acme.get(path)).replace(value, "?").partition(" Request ")[0]
            job = Job.objects.filter(kind=READ_ROWS).latest("created_at")
            return text, job.result

        assert told("secret-7") == told("nothing-7")

    @cases(
        "asked",
        {
            "no operator": "f=id",
            "another operator": "f=id:like:3",
            "SQL": "f=1%3D1",
            "no number": "f=id:eq:x",
            "too long": f"f=note:eq:{'x' * 3000}",
            "too many": "&".join(f"f=id:eq:{n}" for n in range(30)),
            "no page": "page=0",
            "no such page": "page=99999999999999999999",
            "text for a page": "page=%D9%A3",
            "a type that is not compared so": "f=id:contains:1",
        },
    )
    def test_that_do_not_fit_are_refused(
        self, acme: Visitor, staff: Ruled, asked: str
    ) -> None:
        acme.sign_in()

        answer = acme.get(f"{path_of(staff.shared)}?{asked}")

        assert answer.status_code == 400
        assert 'role="alert"' in answer.content.decode()


class TestNames:
    @cases(
        "names",
        {
            "another share": ("Other", "hr", "staff"),
            "up": ("..", "..", "settings"),
            "up, encoded": ("%2e%2e", "%2e%2e", "x"),
            "a slash": ("People", "hr/..", "staff"),
            "a NUL": ("People", "hr", "staff\0"),
            "a path": ("People", "hr", "/etc/passwd"),
        },
    )
    def test_that_are_not_granted_are_not_found(
        self, acme: Visitor, staff: Ruled, names: tuple[str, ...]
    ) -> None:
        del staff
        acme.sign_in()
        path = "/".join(quote(name, safe="") for name in names)

        answer = acme.get(f"/portal/t/{path}")

        assert answer.status_code in {302, 404}
        assert answer.status_code == 404 or answer.url.startswith("/portal")

    def test_of_another_recipients_share_are_not_found(
        self, acme: Visitor, staff: Ruled, new_visitor: NewVisitor
    ) -> None:
        other_share = Share.objects.create(
            name="Other", name_key="other", in_browser=True, created_at=timezone.now()
        )
        other = new_visitor("other", other_share)
        other.sign_in()
        acme.sign_in()

        assert acme.get(path_of(staff.shared)).status_code == 200
        assert other.get(path_of(staff.shared)).status_code == 404


class TestTheRecord:
    def test_has_what_was_looked_at(self, acme: Visitor, staff: Ruled) -> None:
        acme.sign_in()
        acme.rows(staff.shared)

        (event,) = AuditEvent.objects.filter(action="portal.rows")
        assert (event.share, event.schema, event.table) == ("People", "hr", "staff")
        assert (event.recipient, event.version, event.status) == ("acme", 3, 200)
        assert (event.num_rows, event.num_files) == (15, 3)
        assert event.size_bytes == staff.table.snapshot().size_bytes
        assert LastRead.objects.get().version == 3

    def test_counts_files_once_for_each_reading(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        acme.sign_in()
        for _ in range(3):
            acme.rows(staff.shared)

        sizes = AuditEvent.objects.filter(action="portal.rows").values_list(
            "size_bytes", flat=True
        )
        assert sorted(size is None for size in sizes) == [False, True, True]

    def test_has_what_was_refused(self, acme: Visitor, staff: Ruled) -> None:
        del staff
        acme.sign_in()
        acme.get("/portal/t/a/b/c")

        (event,) = AuditEvent.objects.filter(action="portal.rows")
        assert (event.status, event.share, event.table) == (404, "a", "c")

    def test_counts_towards_the_limit(self, acme: Visitor, staff: Ruled) -> None:
        acme.sign_in()
        Recipient.objects.update(hard_limit_bytes=1)
        acme.rows(staff.shared)

        answer = acme.get(f"{path_of(staff.shared)}?f=id:eq:1")

        assert answer.status_code == 403
        assert "limit" in text_of(answer)

    def test_is_of_a_session_that_ends_with_its_time(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        acme.sign_in()
        acme.rows(staff.shared)
        acme.token.browser_sessions.update(
            open_until=timezone.now() - timedelta(seconds=1)
        )

        assert acme.get(path_of(staff.shared)).status_code == 302
        assert AuditEvent.objects.filter(action="portal.rows").count() == 1


class TestAFailure:
    def test_is_not_repeated_by_a_page_that_waits(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        acme.sign_in()
        acme.get(path_of(staff.shared))
        jobs = Job.objects.filter(kind=READ_ROWS)
        jobs.update(state=Job.State.FAILED, finished_at=timezone.now())

        text = text_of(acme.get(path_of(staff.shared)))
        assert "The rows could not be read" in text
        assert jobs.count() == 1

        jobs.update(finished_at=timezone.now() - timedelta(minutes=1))
        acme.get(path_of(staff.shared))
        assert jobs.count() == 2

    def test_tells_nothing_of_the_storage(self, acme: Visitor, staff: Ruled) -> None:
        acme.sign_in()
        acme.get(path_of(staff.shared))
        for file in staff.table.snapshot().files["path"].to_pylist():
            (Path(staff.table.root.removeprefix("file://")) / file).unlink()
        work()

        answer = acme.get(path_of(staff.shared))

        assert "There are no rows to show" in text_of(answer)
        assert str(staff.table.root) not in answer.content.decode()
        assert ".parquet" not in answer.content.decode()


class TestTheList:
    def test_tells_no_size_and_no_time_of_a_part(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        table = staff.shared.table
        new_shared_table(staff.shared.share, "hr.part", table=table, condition="id < 2")
        Table.objects.update(size_bytes=7 << 20)
        acme.sign_in()

        text = text_of(acme.get())

        assert text.count("MiB") == 1  # of hr.staff, which is shared whole
        part = text.partition("hr. part")[2].partition("hr. staff")[0]
        assert "MiB" not in part
        assert "ago" not in part

    def test_finds_tables_by_name(self, acme: Visitor, staff: Ruled) -> None:
        new_shared_table(staff.shared.share, "hr.pay", table=staff.shared.table)
        acme.sign_in()

        assert "hr. staff" not in text_of(acme.get("/portal/?q=PAY"))
        assert "hr. pay" in text_of(acme.get("/portal/?q=PAY"))
        assert "No table matches" in text_of(acme.get("/portal/?q=%3Cb%3E"))


class TestTheColumns:
    def names(self, visitor: Visitor, path: str) -> list[str]:
        page = visitor.get(path).content.decode()
        grid = page.partition('<table class="dw-table dw-grid-t">')[2]
        return re.findall(r"(?:>|^)(\w+)(?:</a>)?<small>", grid.partition("<tbody>")[0])

    def test_are_those_that_have_a_text(self, acme: Visitor, staff: Ruled) -> None:
        acme.sign_in()
        acme.rows(staff.shared)
        path = path_of(staff.shared)
        every = self.names(acme, path)

        assert every == ["id", "region", "salary", "note"]
        assert self.names(acme, f"{path}?columns=SAL") == ["salary"]
        assert self.names(acme, f"{path}?columns=no+such") == every
        assert Job.objects.filter(kind=READ_ROWS).count() == 1

    def test_are_kept_by_filters_orders_and_pages(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        acme.sign_in()
        path = path_of(staff.shared)
        acme.rows(staff.shared, "?columns=id&f=id:ge:3")

        page = acme.get(f"{path}?columns=id&f=id:ge:3").content.decode()
        added = acme.get(f"{path}?columns=id&fc=id&fo=ge&fv=3")

        assert "sort=id&amp;columns=id" in page
        assert f"{path}?columns=id" in page  # without the condition
        assert added.url.endswith("f=id%3Age%3A3&columns=id")

    def test_of_a_rule_are_all_that_is_found(self, acme: Visitor, staff: Ruled) -> None:
        staff.rule(OF_EU, "id", "note")
        staff.prepare()
        acme.sign_in()
        acme.rows(staff.shared)

        hidden = f"{path_of(staff.shared)}?columns=salary"

        assert self.names(acme, hidden) == ["id", "note"]


def test_a_part_that_is_not_ready_asks_again(acme: Visitor, staff: Ruled) -> None:
    staff.rule(OF_EU, "id", "note")
    acme.sign_in()

    answer = acme.get(path_of(staff.shared))

    assert (answer.status_code, answer["Refresh"]) == (409, "5")
    assert "is being prepared" in text_of(answer)


def test_a_part_whose_files_were_erased_is_prepared_again(
    acme: Visitor, staff: Ruled
) -> None:
    staff.rule(OF_EU, "id", "note")
    staff.prepare()
    staff.expire()
    acme.sign_in()

    answer = acme.get(path_of(staff.shared))

    assert (answer.status_code, answer["Refresh"]) == (503, "5")
    assert "is being prepared" in text_of(answer)
    assert Job.objects.get().kind == "sharing.prepare_share"
