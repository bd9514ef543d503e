"""The page of findings: what it lists, for whom, and in what order."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.notices.events import EventSubject
from apps.notices.kinds.token_expiring import TOKEN_EXPIRING
from apps.tables.health.history import daily_counts, history_chart
from apps.tables.health.listing import FINDINGS, health_counts
from apps.tables.health.storing import FindingOfSharing, keep_findings_of_sharing
from apps.tables.models import StoredFinding, Table
from deltaweb.health.finding import Severity
from tests.support.pages.factories import NOW, new_table, new_user, signed_in
from tests.support.pages.findings import finding, stored

pytestmark = pytest.mark.django_db
PAGE = "/health/"


@pytest.fixture
def orders(db: None) -> Table:  # noqa: ARG001 (a row)
    return new_table("sales.orders", health_checked_at=NOW)


@pytest.fixture
def secret(db: None) -> Table:  # noqa: ARG001 (a row)
    return new_table("hr.salaries", is_private=True)


def _listed(user: User, **query: Any) -> list[tuple[str, str]]:  # noqa: ANN401 (filters)
    page = FINDINGS.page(user, FINDINGS.query(**query), timezone.now())
    return [(row.subject, row.resource.rule) for row in page.rows]


def test_the_worst_comes_first_and_each_rule_stands_together(
    orders: Table, secret: Table
) -> None:
    urgent = finding("log-gap", severity=Severity.ACT_NOW)
    stored(orders, finding(), urgent)
    stored(secret, finding())

    assert _listed(new_user(role=User.Role.ADMIN)) == [
        ("sales.orders", "log-gap"),
        ("sales.orders", "small-files"),
        ("hr.salaries", "small-files"),
    ]


def test_nobody_sees_or_counts_findings_of_what_is_hidden(
    orders: Table, secret: Table
) -> None:
    stored(orders)
    stored(secret)
    one = FindingOfSharing(
        finding=finding("token-ends"),
        subject="globex",
        subject_url="/recipients/x/",
        kind=TOKEN_EXPIRING,
        event_subject=EventSubject("recipient", "7", "globex"),
    )
    keep_findings_of_sharing([one], now=NOW)
    users = [new_user(role, role=role) for role in ("VIEWER", "EDITOR", "ADMIN")]

    seen = [{subject for subject, _ in _listed(user)} for user in users]

    assert seen == [
        {"sales.orders"},
        {"sales.orders"},
        {"sales.orders", "hr.salaries", "globex"},
    ]
    now = timezone.now()
    assert [health_counts(user, now).num_open for user in users] == [1, 1, 3]
    assert [health_counts(user, now).num_tables for user in users] == [1, 1, 2]
    assert [daily_counts(user, now)[-1].total for user in users] == [1, 1, 3]


def test_muted_and_closed_findings_are_listed_apart(orders: Table) -> None:
    user, now = new_user(role=User.Role.EDITOR), timezone.now()
    muted, closed, mine = stored(
        *(orders, finding("log-gap"), finding("no-checkpoint"), finding())
    )
    StoredFinding.objects.filter(pk=muted.pk).update(muted_until=now + timedelta(1))
    StoredFinding.objects.filter(pk=closed.pk).update(closed_at=now)
    StoredFinding.objects.filter(pk=mine.pk).update(assignee=user)

    by_state = {
        state: [rule for _, rule in _listed(user, state=state)]
        for state in ("open", "mine", "muted", "closed")
    }

    assert by_state == {
        "open": [mine.rule],
        "mine": [mine.rule],
        "muted": [muted.rule],
        "closed": [closed.rule],
    }


@pytest.mark.parametrize(
    "query",
    [
        {"q": "sales.ord"},
        {"q": "small files"},
        {"q": "84 files"},
        {"severity": "costs"},
        {"rule": "small-files"},
        {"namespace": "sales"},
    ],
)
def test_findings_are_filtered(orders: Table, query: dict[str, str]) -> None:
    stored(orders)
    stored(
        new_table("web.clicks"),
        finding("log-gap", severity=Severity.ACT_NOW, sentence="A gap."),
    )

    found = _listed(new_user(role=User.Role.EDITOR), **query)

    assert found == [("sales.orders", "small-files")]


def test_the_page_ends_in_a_button_with_the_choices_filled_in(orders: Table) -> None:
    (found,) = stored(orders)
    page = signed_in("eve", role=User.Role.EDITOR).get(f"{PAGE}?open={found.pk}")
    text = page.content.decode()

    assert page.status_code == 200
    assert 'href="/t/sales/orders/optimize"' in text
    assert "deltaweb table optimize orders" in text
    assert "83 files" in text


def test_a_viewer_reads_findings_and_changes_none(orders: Table) -> None:
    (found,) = stored(orders)
    client = signed_in("vera")

    text = client.get(f"{PAGE}?open={found.pk}").content.decode()

    assert "84 files of 3 KiB" in text
    assert "Acknowledged" not in text
    assert client.post(f"/health/{found.pk}/update").status_code == 403


def test_the_json_form_has_the_finding_as_commands_do(orders: Table) -> None:
    stored(orders)

    (found,) = signed_in("vera").get("/health.json").json()["findings"]

    assert found["rule"] == "small-files"
    assert found["table"] == "sales.orders"
    assert found["severity"] == "costs"
    assert found["evidence"] == [{"label": "Small files", "value": 84, "unit": "files"}]
    assert found["remedy"]["operation"] == "optimize"


def test_the_quiet_state_says_what_was_checked(orders: Table) -> None:
    text = signed_in("vera").get(PAGE).content.decode()

    assert orders.health_checked_at is not None
    assert "Nothing to do" in text
    assert "rules looked at 1 table and found nothing" in text


def test_the_picture_counts_what_was_open_on_each_day(orders: Table) -> None:
    now = timezone.now()
    (old,) = stored(orders, now=now - timedelta(days=40))
    StoredFinding.objects.filter(pk=old.pk).update(closed_at=now - timedelta(days=10))
    stored(orders, finding("log-gap", severity=Severity.ACT_NOW), finding(), now=now)

    days = daily_counts(new_user(), now)

    assert [day.total for day in days] == [1] * 19 + [0] * 10 + [2]
    assert (days[-1].act_now, days[-1].costs) == (1, 1)
    chart = history_chart(days)
    assert chart.most == 2
    assert [len(bar.parts) for bar in chart.bars[-2:]] == [0, 2]


def test_what_is_muted_or_acknowledged_is_a_part_of_its_own(orders: Table) -> None:
    now, day = timezone.now(), timedelta(days=1)
    names = ("acknowledged", "muted", "was-muted", "open")
    rows = stored(orders, *map(finding, names), now=now - 10 * day)
    found = {row.rule: row for row in rows}
    for name, values in {
        "acknowledged": {"acknowledged_at": now - 2 * day},
        "muted": {"muted_at": now - 5 * day, "muted_until": now + day},
        "was-muted": {"muted_at": now - 8 * day, "muted_until": now - 4 * day},
    }.items():
        StoredFinding.objects.filter(pk=found[name].pk).update(**values)

    days = daily_counts(new_user(), now)[-11:]

    assert [one.set_aside for one in days] == [0, 0, 1, 1, 1, 2, 1, 1, 2, 2, 2]
    assert [one.total for one in days] == [4, 4, 3, 3, 3, 2, 3, 3, 2, 2, 2]


@pytest.mark.parametrize("order", ["table", "-table"])
def test_a_list_by_table_has_a_heading_for_each(orders: Table, order: str) -> None:
    stored(orders, finding(), finding("log-gap"))
    stored(new_table("web.clicks"))
    user, now = new_user(role=User.Role.ADMIN), timezone.now()
    one = FindingOfSharing(
        finding=finding("token-expires"),
        subject="globex",
        subject_url="/recipients/x/",
        kind=TOKEN_EXPIRING,
        event_subject=EventSubject("recipient", "7", "globex"),
    )
    keep_findings_of_sharing([one], now=NOW)

    page = FINDINGS.page(user, FINDINGS.query(sort=order), now)
    groups = [(row.group.title, row.group.count) for row in page.rows if row.group]

    tables = [("sales.orders", 2), ("sales.orders", 2), ("web.clicks", 1)]
    assert groups == [*(tables if order == "table" else tables[::-1]), ("globex", 1)]
    shown = signed_in("eve", role=User.Role.EDITOR).get(f"{PAGE}?sort={order}")
    assert "sales.orders</a></h3>" in shown.content.decode()


def test_the_age_of_a_finding_is_shown_and_sorts(orders: Table) -> None:
    now = timezone.now()
    new = finding("log-gap", since=now - timedelta(hours=3))
    stored(orders, new, finding(since=now - timedelta(days=12)))

    shown = signed_in("eve").get(PAGE).content.decode()

    assert "for 12 days" in shown
    assert "for 3 hours" in shown
    by_age = [rule for _, rule in _listed(new_user(), sort="since")]
    assert by_age == ["small-files", "log-gap"]


def test_a_page_needs_as_many_queries_for_one_finding_as_for_fifty(
    orders: Table,
    django_assert_num_queries: Any,  # noqa: ANN401 (of pytest-django)
) -> None:
    stored(orders)
    client = signed_in("eve", role=User.Role.EDITOR)
    client.get(PAGE)
    for number in range(50):
        stored(new_table(f"ns.t{number}"))

    with django_assert_num_queries(11):
        client.get(PAGE)


@pytest.mark.parametrize("page", [PAGE, "/t/sales/orders/"])
def test_what_stands_between_backticks_is_code(orders: Table, page: str) -> None:
    stored(orders, finding(sentence="`<k>` has no statistics."))

    shown = signed_in("viewer").get(page).content.decode()

    assert "<code>&lt;k&gt;</code> has no statistics." in shown
