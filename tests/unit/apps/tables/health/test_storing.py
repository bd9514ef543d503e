"""Findings are opened once, followed, and closed by the look that misses them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.notices.events import EventSubject
from apps.notices.kinds.token_expiring import TOKEN_EXPIRING
from apps.tables.health.examining import EXAMINE, request_examination
from apps.tables.health.storing import (
    FindingOfSharing,
    keep_findings,
    keep_findings_of_sharing,
)
from apps.tables.models import StoredFinding, Table
from deltaweb.health.finding import Cost, Severity
from tests.support.pages.factories import NOW, new_table
from tests.support.pages.findings import finding, stored

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=2)


def test_a_finding_is_followed_and_not_opened_twice() -> None:
    table = new_table()
    (first,) = stored(table)
    worse = finding(sentence="90 files of 3 KiB.", severity=Severity.ACT_NOW)

    (again,) = stored(table, worse, now=LATER)

    assert (again.pk, again.sentence) == (first.pk, "90 files of 3 KiB.")
    assert again.severity == StoredFinding.Severity.ACT_NOW
    assert (again.found_at, again.since, again.seen_at) == (NOW, NOW, LATER)


def test_the_version_that_fixes_a_finding_closes_it() -> None:
    table = new_table(version=7)
    (found,) = stored(table)
    table.version = 8

    keep_findings(table, [], now=LATER)

    found.refresh_from_db()
    assert (found.closed_at, found.closed_version) == (LATER, 8)
    table.refresh_from_db()
    assert table.health_checked_at == LATER


def test_what_comes_back_is_another_finding_and_as_muted_as_before() -> None:
    table = new_table()
    until = NOW + timedelta(days=7)
    StoredFinding.objects.filter(pk=stored(table)[0].pk).update(
        muted_until=until, muted_by="eve"
    )
    keep_findings(table, [], now=NOW)

    (again,) = stored(table, now=LATER)

    assert (again.found_at, again.muted_until, again.muted_by) == (LATER, until, "eve")
    assert StoredFinding.objects.count() == 2


def test_closed_findings_are_deleted_after_90_days_by_the_daily_look() -> None:
    table = new_table(state=Table.State.NEW)
    old, recent, muted, still_open = stored(
        *(table, finding("a"), finding("b"), finding("c"), finding("d"))
    )
    now = timezone.now()
    by_id = StoredFinding.objects.filter
    by_id(pk=old.pk).update(closed_at=now - timedelta(days=91))
    by_id(pk=recent.pk).update(closed_at=now - timedelta(days=89))
    by_id(pk=muted.pk).update(
        closed_at=now - timedelta(days=91), muted_until=now + timedelta(days=1)
    )

    EXAMINE.work(request_examination(now=now).id)

    left = set(StoredFinding.objects.filter(rule__in="abcd").values_list("rule"))
    assert left == {(one.rule,) for one in (recent, muted, still_open)}


def test_findings_of_one_rule_are_apart_by_what_they_are_about() -> None:
    found = [finding("no-statistics", subject=name) for name in ("amount", "day")]

    assert len(stored(new_table(), *found)) == 2


def test_a_cost_in_bytes_is_added_up_and_another_is_not() -> None:
    table = new_table()
    in_bytes = finding("removed-files", cost=Cost(1 << 20, "bytes", "to be freed"))

    stored(table, finding(), in_bytes)

    sizes = dict(StoredFinding.objects.values_list("rule", "cost_bytes"))
    assert sizes == {"small-files": None, "removed-files": 1 << 20}


def test_a_removed_table_gets_no_findings() -> None:
    table = new_table()
    type(table).objects.filter(id=table.id).delete()

    keep_findings(table, [finding()], now=NOW)

    assert not StoredFinding.objects.exists()


def test_findings_of_sharing_do_not_close_those_of_tables() -> None:
    table = new_table()
    stored(table)
    one = FindingOfSharing(
        finding=finding("token-ends", subject="globex"),
        subject="globex",
        subject_url="/recipients/globex/",
        kind=TOKEN_EXPIRING,
        event_subject=EventSubject("recipient", "7", "globex"),
    )

    keep_findings_of_sharing([one], now=NOW)
    keep_findings(table, [finding()], now=LATER)

    assert StoredFinding.objects.open().count() == 2
    keep_findings_of_sharing([], now=LATER)
    assert [one.rule for one in StoredFinding.objects.open()] == ["small-files"]
