"""Findings are events when they are opened and closed."""

from datetime import timedelta

import pytest

from apps.notices.events import EventSubject
from apps.notices.kinds.token_expiring import TOKEN_EXPIRING
from apps.tables.health.storing import (
    FindingOfSharing,
    keep_findings,
    keep_findings_of_sharing,
)
from apps.tables.models import StoredFinding, Table
from tests.support.pages.factories import NOW, new_table
from tests.support.pages.findings import finding
from tests.support.pages.reported import reported, sentences

pytestmark = [pytest.mark.django_db, pytest.mark.database]
LATER = NOW + timedelta(hours=2)
LATEST = LATER + timedelta(hours=2)


@pytest.fixture
def table() -> Table:
    """A table that was checked before."""
    return new_table("orders", health_checked_at=NOW)


def states() -> list[object]:
    return [one["state"] for one in reported()]


class TestOfATable:
    def test_are_events_once_each(self, table: Table) -> None:
        keep_findings(table, [finding()], now=NOW)
        keep_findings(table, [finding()], now=LATER)
        assert states() == ["open"]

        keep_findings(table, [], now=LATEST)
        assert states() == ["open", "closed"]
        opened, closed = sentences()
        assert opened.startswith("orders: ")
        assert closed.startswith("orders: this no longer holds. ")

    def test_that_come_back_are_events_again(self, table: Table) -> None:
        keep_findings(table, [finding()], now=NOW)
        keep_findings(table, [], now=LATER)
        keep_findings(table, [finding()], now=LATEST)

        assert states() == ["open", "closed", "open"]

    def test_of_the_first_check_are_no_events(self) -> None:
        keep_findings(new_table(), [finding()], now=NOW)

        assert states() == []

    def test_that_are_muted_are_no_events(self, table: Table) -> None:
        keep_findings(table, [finding()], now=NOW)
        StoredFinding.objects.update(muted_until=LATEST + timedelta(days=9))
        keep_findings(table, [], now=LATER)
        keep_findings(table, [finding()], now=LATEST)

        assert states() == ["open"]


class TestOfSharing:
    def test_are_events_about_the_recipient(self) -> None:
        one = FindingOfSharing(
            finding=finding("token-expires", subject="globex"),
            subject="globex",
            subject_url="/recipients/globex/",
            kind=TOKEN_EXPIRING,
            event_subject=EventSubject("recipient", "7", "globex"),
        )
        keep_findings_of_sharing([one], now=NOW)
        keep_findings_of_sharing([one], now=LATER)
        keep_findings_of_sharing([], now=LATEST)

        found = reported("token.expiring")
        assert [(event["rule"], event["state"]) for event in found] == [
            ("token-expires", "open"),
            ("token-expires", "closed"),
        ]
        assert sentences()[1].startswith("globex: this no longer holds. ")
