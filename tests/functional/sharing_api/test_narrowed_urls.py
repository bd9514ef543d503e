"""URLs of files that were issued before the terms of a share changed."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from pytest_django import Settings

from apps.jobs import kinds
from apps.jobs.models import Job
from apps.sharing.models import Grant, Recipient, RecipientRule, SharedTable
from tests.functional.sharing_api.calls import (
    Answer,
    Caller,
    Lake,
    body_of,
    files,
    lines,
    local,
    refused,
)
from tests.functional.sharing_api.conftest import NewCaller
from tests.functional.sharing_api.ends import end_of, share_with
from tests.functional.sharing_api.ruled import Ruled, close_file, new_staff
from tests.support import cases, matrix
from tests.support.pages.factories import new_share, new_shared_table, new_table

ON_A_DAY = "day < '2026-01-03' AND recipient.level = 3"
LATER = {"delta-sharing-capabilities": "asyncquery=true"}


Change = Callable[[Caller], object]
Issue = Callable[[Caller, str], str]


def own_rule(acme: Caller, **rule: object) -> None:
    """Let one recipient see less than the others."""
    RecipientRule.objects.create(
        shared_table=SharedTable.objects.get(), recipient=acme.recipient, **rule
    )


def own(**rule: object) -> Change:
    return lambda acme: own_rule(acme, **rule)


def terms(**fields: object) -> Change:
    return lambda _: SharedTable.objects.update(**fields)


def properties(**values: object) -> Change:
    def change(acme: Caller) -> None:
        Recipient.objects.filter(id=acme.recipient.id).update(properties=values)

    return change


def fetch(caller: Caller, url: str) -> Answer:
    answer = caller.get(local(url))
    body_of(answer)
    close_file(answer)
    return answer


def refusal(caller: Caller, url: str) -> str:
    return refused(fetch(caller, url), "PERMISSION_DENIED", 403)


def queried(caller: Caller, path: str) -> str:
    return str(files(caller.query(path))[0]["url"])


def paged(caller: Caller, path: str) -> str:
    token = end_of(caller.query(path, {"maxFiles": 1}))["nextPageToken"]
    answer = caller.query(path, {"maxFiles": 1, "pageToken": token})
    return str(files(answer)[0]["url"])


def refreshed(caller: Caller, path: str) -> str:
    told = end_of(caller.query(path, {"includeRefreshToken": True}))
    answer = caller.query(path, {"refreshToken": told["refreshToken"]})
    return str(files(answer)[0]["url"])


def streamed(caller: Caller, path: str) -> str:
    return str(lines(caller.query(path, {"startingVersion": 1}))[2]["add"]["url"])


def answered_later(caller: Caller, path: str) -> str:
    (line,) = lines(caller.query(path, {}, **LATER))
    for job in Job.objects.waiting():
        kinds.all_kinds()[job.kind].work(job.id)
    query_id = line["queryStatus"]["queryId"]
    answer = caller.ask("POST", f"{path}/queries/{query_id}", json.dumps({}).encode())
    return str(files(answer)[0]["url"])


@pytest.fixture
def acme(lake: Lake, new_caller: NewCaller) -> Caller:
    return new_caller("acme", lake.shared.share, properties={"level": 3, "tone": "a"})


NARROWED: dict[str, Change] = {
    "a condition": terms(condition="id < 5"),
    "a condition over partitions": terms(condition="day > '2026-01-02'"),
    "columns": terms(columns=["id"]),
    "the same columns, named": terms(columns=["id", "day"]),
    "a condition for one": own(condition="id < 5"),
    "columns for one": own(columns=["id"]),
    "a first version": terms(start_version=2),
    "history": terms(with_history=False),
}
ISSUED: dict[str, Issue] = {
    "by a query": queried,
    "by a page": paged,
    "by a refresh": refreshed,
    "by a stream": streamed,
    "later": answered_later,
}


class TestURLsOfAWholeTable:
    @matrix("issued, narrow", product(ISSUED.values(), NARROWED.values()))
    def test_end_with_the_terms_that_they_were_issued_on(
        self, acme: Caller, lake: Lake, issued: Issue, narrow: Change
    ) -> None:
        url = issued(acme, lake.path)
        assert fetch(acme, url).status_code == 200

        narrow(acme)

        assert "other terms" in refusal(acme, url)

    @cases(
        "change",
        {
            "a comment": terms(comment="Orders of acme"),
            "a property that no condition asks for": properties(level=4),
            "the comment of the recipient": lambda _: Recipient.objects.update(
                comment="of Bob's"
            ),
        },
    )
    @pytest.mark.parametrize("issued", ISSUED.values())
    def test_outlive_what_is_no_term(self, acme, lake, issued, change) -> None:
        url = issued(acme, lake.path)

        change(acme)

        assert fetch(acme, url).status_code == 200

    def test_outlive_the_rule_of_another_recipient(self, acme, lake, new_caller):
        other = new_caller("globex", lake.shared.share)
        url = queried(acme, lake.path)

        own_rule(other, condition="id < 5")

        assert fetch(acme, url).status_code == 200

    def test_work_again_with_the_terms_that_they_were_issued_on(self, acme, lake):
        url = queried(acme, lake.path)
        share_with(lake, condition="id < 5")
        refusal(acme, url)

        share_with(lake, condition="")

        assert fetch(acme, url).status_code == 200

    def test_cannot_name_the_terms_of_now(self, acme, lake) -> None:
        before = queried(acme, lake.path)
        share_with(lake, start_version=3)
        after = queried(acme, lake.path)
        first, second = (url.partition("&tm=")[2][:16] for url in (before, after))

        assert first != second
        assert "signature" in refusal(acme, before.replace(first, second))
        assert fetch(acme, after).status_code == 200

    def test_say_nothing_else_where_the_grant_has_gone_too(self, acme, lake) -> None:
        url = queried(acme, lake.path)
        share_with(lake, condition="id < 5")
        Grant.objects.all().delete()

        assert "no longer shared with you" in refusal(acme, url)

    def test_end_where_the_condition_cannot_be_read(self, acme, lake) -> None:
        url = queried(acme, lake.path)

        share_with(lake, condition="id <")

        answer = fetch(acme, url)
        assert answer.status_code == 400
        assert "id <" not in answer.content.decode()


class TestURLsOfUntouchedFiles:
    """A condition over partition columns leaves each file as it is, or out."""

    @cases(
        "narrow",
        NARROWED
        | {
            "a property that the condition asks for": properties(level=4),
            "a property of another type": properties(level="3"),
            "no property": properties(),
            "another condition of the same rows": terms(
                condition="day < '2026-01-03' AND recipient.level = 3 AND TRUE"
            ),
        },
    )
    def test_end_with_the_rule_that_they_were_issued_under(
        self, acme, lake, narrow
    ) -> None:
        share_with(lake, condition=ON_A_DAY)
        url = queried(acme, lake.path)
        assert fetch(acme, url).status_code == 200

        narrow(acme)

        assert "other terms" in refusal(acme, url)

    def test_outlive_a_property_that_the_condition_does_not_ask_for(self, acme, lake):
        share_with(lake, condition=ON_A_DAY)
        url = queried(acme, lake.path)

        properties(level=3, tone="b")(acme)

        assert fetch(acme, url).status_code == 200

    def test_are_signed_for_the_rule_that_chose_the_files(
        self, acme: Caller, lake: Lake
    ) -> None:
        """An answer is streamed: the rule changes while its lines are made."""
        answer = acme.query(lake.path)
        share_with(lake, condition="day > '2026-01-02'")

        urls = [file["url"] for file in files(answer)]

        assert len(urls) == 3
        assert {fetch(acme, url).status_code for url in urls} == {403}


class TestURLsOfRewrittenFiles:
    @pytest.fixture
    def staff(self, db: None, tmp_path: Path, settings: Settings) -> Ruled:  # noqa: ARG002 (a database)
        settings.PREPARED_FILES = str(tmp_path / "prepared")
        root = tmp_path / "lake" / "staff"
        table = new_table("hr.staff", location=str(root), version=3)
        shared = new_shared_table(new_share("People"), "hr.staff", table=table)
        return Ruled(new_staff(root), shared)

    @pytest.fixture
    def reader(self, staff: Ruled, new_caller: NewCaller) -> Caller:
        values = {"region": "EU", "tone": "a"}
        return new_caller("acme", staff.shared.share, properties=values)

    @cases(
        "narrow, ends",
        {
            "another condition": (terms(condition="region = 'US'"), True),
            "fewer columns": (terms(columns=["id"]), True),
            "columns for one": (own(columns=["id"]), True),
            "a condition for one": (own(condition="id = 1"), True),
            "another value": (properties(region="US"), True),
            "a first version": (terms(start_version=3), True),
            "history": (terms(with_history=False), True),
            "a comment": (terms(comment="Staff"), False),
            "a value that is not asked for": (properties(region="EU"), False),
        },
    )
    def test_end_with_their_rule(self, staff, reader, narrow, ends) -> None:
        staff.rule("region = recipient.region", "id", "region")
        staff.prepare()
        urls = [
            line["file"]["deltaSingleAction"]["add"]["path"]
            for line in lines(staff.query(reader))[2:]
        ]
        assert urls
        assert all("/prepared/" in url for url in urls)
        assert {fetch(reader, url).status_code for url in urls} == {200}

        narrow(reader)

        answers = [fetch(reader, url) for url in urls]
        assert {one.status_code for one in answers} == {403 if ends else 200}

    def test_do_not_open_what_another_recipient_was_given(
        self, staff: Ruled, reader: Caller, new_caller: NewCaller
    ) -> None:
        other = new_caller("globex", staff.shared.share, properties={"region": "US"})
        staff.rule("region = recipient.region", "id")
        staff.prepare()
        mine, theirs = (
            lines(staff.query(one))[2]["file"]["deltaSingleAction"]["add"]["path"]
            for one in (reader, other)
        )
        token = f"tk={reader.token.id.hex}"
        assert token in mine

        forged = theirs.replace(f"tk={other.token.id.hex}", token)

        assert fetch(reader, forged).status_code == 403
