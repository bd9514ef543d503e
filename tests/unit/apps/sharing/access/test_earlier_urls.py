"""Until when URLs open that were issued before the terms of a share changed."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings

from apps.pages.actions import COMMAND_LINE, Stamp
from apps.pages.changes.change import Nothing
from apps.sharing.access.earlier_urls import earlier_urls_text
from apps.sharing.models import Recipient, RecipientRule, SharedTable
from apps.sharing.recipients.changes.settings import UPDATE, RecipientChange
from apps.sharing.shares.switching import urls_end_at
from apps.sharing.shares.tables.plain import (
    RECIPIENT_PLAIN,
    RECIPIENT_STORED,
    SHARE_PLAIN,
    SHARE_STORED,
)
from apps.sharing.shares.terms import NewRule, Terms, narrow_table, update_table
from tests.support import cases
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_metadata,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]

STAMP = Stamp(COMMAND_LINE, NOW)
HOUR = NOW + timedelta(hours=1)
QUARTER = NOW + timedelta(minutes=15)
IN_STORE = "s3://lake/orders"
PROPERTIES = {"level": 3, "tone": "a"}


@pytest.fixture(autouse=True)
def _settings(settings: Settings) -> None:
    settings.FILE_URL_LIFETIME_S = 3600
    settings.PART_URL_LIFETIME_S = 900
    settings.PREPARED_FILES = "/prepared"


def new_shared(location: str = IN_STORE, **fields: Any) -> SharedTable:  # noqa: ANN401 (columns)
    table = new_table("crm.orders", location=location)
    new_metadata(table)
    shared = new_shared_table(new_share("sales"), "crm.orders", table=table, **fields)
    new_grant(shared.share, new_recipient("acme", properties=PROPERTIES))
    return shared


def acme() -> Recipient:
    return Recipient.objects.get(name="acme")


def change(shared: SharedTable, *, at: datetime = NOW, **fields: Any) -> None:  # noqa: ANN401 (columns)
    update_table(shared, Terms(**shared.offer | fields), stamp=Stamp(COMMAND_LINE, at))


def ended(shared: SharedTable) -> datetime | None:
    """When the URLs of a table end, as it is stored."""
    return SharedTable.objects.get(id=shared.id).earlier_urls_end_at


class TestChangedTable:
    @cases(
        "known, changed, ends_at",
        {
            "a condition on a whole table": ({}, {"condition": "id > 1"}, HOUR),
            "columns of a whole table": ({}, {"columns": ["id"]}, HOUR),
            "no history of a whole table": ({}, {"with_history": False}, HOUR),
            "a first version of a whole table": ({}, {"start_version": 1}, HOUR),
            "another condition": (
                {"condition": "id > 1"},
                {"condition": "id > 2"},
                QUARTER,
            ),
            "other columns": (
                {"columns": ["id", "note"]},
                {"columns": ["id"]},
                QUARTER,
            ),
            "another first version": (
                {"start_version": 1},
                {"start_version": 2},
                QUARTER,
            ),
            "a comment": ({}, {"comment": "Orders"}, None),
        },
    )
    def test_ends_as_its_terms_before_let_it(self, known, changed, ends_at) -> None:
        shared = new_shared(**known)

        change(shared, **changed)

        assert ended(shared) == ends_at

    @cases(
        "location, prepared, known, ends_at",
        {
            "all on this server": ("/lake/orders", "/prepared", {}, None),
            "what is rewritten is not": (
                *("/lake/orders", "s3://prepared", {"condition": "id > 1"}),
                QUARTER,
            ),
            "nothing was rewritten": ("/lake/orders", "s3://prepared", {}, None),
        },
    )
    def test_ends_by_where_files_are(
        self, settings, location, prepared, known, ends_at
    ) -> None:
        settings.PREPARED_FILES = prepared
        shared = new_shared(location, **known)

        change(shared, condition="id > 2")

        assert ended(shared) == ends_at

    def test_ends_later_where_a_recipient_reads_plain_files(self, settings) -> None:
        settings.PREPARED_FILES = "s3://prepared"
        shared = new_shared("/lake/orders")
        Recipient.objects.update(plain=True)

        change(shared, condition="id > 2")

        assert ended(shared) == HOUR

    def test_urls_of_the_change_before_last_may_end_later(self) -> None:
        shared = new_shared()
        change(shared, condition="id > 1")

        change(shared, condition="id > 2", at=NOW + timedelta(minutes=10))
        first = ended(shared)
        change(shared, condition="id > 3", at=NOW + timedelta(minutes=50))

        assert first == HOUR
        assert ended(shared) == HOUR + timedelta(minutes=5)

    def test_short_lives_stay_short(self, settings: Settings) -> None:
        settings.FILE_URL_LIFETIME_S = 60
        shared = new_shared(condition="id > 1")

        change(shared, condition="id > 2")

        assert ended(shared) == NOW + timedelta(minutes=1)


class TestNarrowedRecipient:
    @cases(
        "known, own, ends_at",
        {
            "of a whole table": ({}, {}, HOUR),
            "of a part": ({"condition": "id > 1"}, {}, QUARTER),
            "narrowed before": ({}, {"columns": ["id", "note"]}, QUARTER),
        },
    )
    def test_ends_as_its_own_terms_before_let_it(self, known, own, ends_at) -> None:
        shared = new_shared(**known)
        if own:
            RecipientRule.objects.create(shared_table=shared, recipient=acme(), **own)

        narrow_table(shared, acme(), NewRule(columns=["id"]), stamp=STAMP)

        assert ended(shared) == ends_at

    def test_the_same_rule_ends_nothing(self) -> None:
        shared = new_shared()
        RecipientRule.objects.create(
            shared_table=shared, recipient=acme(), columns=["id"]
        )

        narrow_table(shared, acme(), NewRule(columns=["id"]), stamp=STAMP)

        assert ended(shared) is None


class TestChangedProperties:
    @cases(
        "known, texts, ends_at",
        {
            "one that is asked for": (
                {"condition": "id > recipient.level"},
                ["level=4", "tone=a"],
                QUARTER,
            ),
            "of another type": (
                {"condition": "id > recipient.level"},
                ['level="3"', "tone=a"],
                QUARTER,
            ),
            "one that is not asked for": (
                {"condition": "id > recipient.level"},
                ["level=3", "tone=b"],
                None,
            ),
            "of a whole table": ({}, ["level=4"], None),
            "a condition that cannot be read": (
                {"condition": "id >"},
                ["level=4"],
                QUARTER,
            ),
        },
    )
    def test_end_what_was_issued_for_them(self, known, texts, ends_at) -> None:
        new_shared(**known)

        UPDATE.carry_out(acme(), RecipientChange(properties=texts), STAMP)

        assert acme().earlier_urls_end_at == ends_at

    def test_end_nothing_where_a_table_is_on_this_server(self) -> None:
        new_shared("/lake/orders", condition="id > recipient.level")

        UPDATE.carry_out(acme(), RecipientChange(properties=["level=4"]), STAMP)

        assert acme().earlier_urls_end_at is None


class TestPlainFiles:
    @cases(
        "change, location, ends_at",
        {
            "of a share in a store": (SHARE_PLAIN, IN_STORE, HOUR),
            "of a share on this server": (SHARE_PLAIN, "/lake/orders", None),
            "that a share had already": (SHARE_STORED, IN_STORE, None),
        },
    )
    def test_end_what_was_issued_of_the_tables_of_a_share(
        self, change, location, ends_at
    ) -> None:
        shared = new_shared(location)

        change.carry_out(shared.share, Nothing(), STAMP)

        assert ended(shared) == ends_at

    @cases(
        "change, fields, ends_at",
        {
            "of a recipient": (RECIPIENT_PLAIN, {}, HOUR),
            "of one who sees a part": (
                RECIPIENT_PLAIN,
                {"condition": "id > 1"},
                QUARTER,
            ),
            "that it had already": (RECIPIENT_STORED, {}, None),
        },
    )
    def test_end_what_was_issued_for_a_recipient(self, change, fields, ends_at) -> None:
        new_shared(**fields)

        change.carry_out(acme(), Nothing(), STAMP)

        assert acme().earlier_urls_end_at == ends_at


class TestShareThatIsOff:
    @cases(
        "spoil, ends_at",
        {
            "whole": (lambda shared: _set(shared, comment="all"), HOUR),
            "in part": (lambda shared: _set(shared, condition="id > 1"), QUARTER),
            "narrowed before": (
                lambda shared: _set(
                    shared, condition="id > 1", earlier_urls_end_at=HOUR
                ),
                HOUR,
            ),
        },
    )
    def test_ends_with_the_last_url(
        self, spoil: Callable[[SharedTable], None], ends_at: datetime
    ) -> None:
        shared = new_shared()
        spoil(shared)
        shared.share.off_since = NOW

        assert urls_end_at(shared.share) == ends_at


def _set(shared: SharedTable, **fields: Any) -> None:  # noqa: ANN401 (columns)
    SharedTable.objects.filter(id=shared.id).update(**fields)


@pytest.mark.parametrize("ends_at", [None, NOW])
def test_a_sentence_says_that_no_url_opens(ends_at: datetime | None) -> None:
    assert earlier_urls_text(ends_at, now=NOW).endswith("no longer work.")


def test_a_sentence_says_until_when_urls_open() -> None:
    ends_at = datetime(2026, 11, 29, 1, 15, tzinfo=UTC)
    now = datetime(2026, 11, 29, 1, 0, tzinfo=UTC)

    assert earlier_urls_text(ends_at, now=now) == (
        "File URLs of an object store that were issued before work until "
        "2026-11-29 01:15 UTC."
    )
