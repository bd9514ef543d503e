"""Findings are acknowledged, muted and assigned, by pages and the REST API."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.tables.models import StoredFinding, Table
from tests.support.pages.factories import new_table, new_user, signed_in
from tests.support.pages.findings import stored
from tests.support.pages.rest import V1, Script, refusal

pytestmark = pytest.mark.django_db


@pytest.fixture
def orders(db: None) -> Table:  # noqa: ARG001 (a row)
    return new_table("sales.orders")


@pytest.fixture
def found(orders: Table) -> StoredFinding:
    return stored(orders)[0]


@pytest.fixture
def script() -> Script:
    return Script("read", "write", role=User.Role.EDITOR, name="bob")


def test_an_acknowledged_finding_stays_open(
    script: Script, found: StoredFinding
) -> None:
    address = f"{V1}/health/{found.pk}"
    answer = script.call("PATCH", address, {"acknowledged": True})

    assert answer.status_code == 200, answer.content
    assert answer.json()["acknowledged_by"] == "bob"
    found.refresh_from_db()
    assert found.closed_at is None
    assert AuditEvent.objects.filter(action="finding.acknowledge").count() == 1

    script.call("PATCH", address, {"acknowledged": False})
    found.refresh_from_db()
    assert (found.acknowledged_at, found.acknowledged_by) == (None, "")


def test_a_muted_finding_leaves_the_list_until_a_date(
    script: Script, found: StoredFinding
) -> None:
    answer = script.call("PATCH", f"{V1}/health/{found.pk}", {"muted_until": "7d"})

    assert answer.status_code == 200, answer.content
    found.refresh_from_db()
    assert found.muted_until is not None
    assert found.muted_at is not None
    span = found.muted_until - timezone.now()
    assert timedelta(days=6) < span <= timedelta(days=7)
    assert script.call("GET", f"{V1}/health").json()["findings"] == []

    script.call("PATCH", f"{V1}/health/{found.pk}", {"muted_until": None})
    assert len(script.call("GET", f"{V1}/health").json()["findings"]) == 1


@pytest.mark.parametrize("text", ["2001-01-01", "0", "4000d", "soon"])
def test_a_finding_cannot_be_muted_until_the_past_or_for_ever(
    script: Script, found: StoredFinding, text: str
) -> None:
    answer = script.call("PATCH", f"{V1}/health/{found.pk}", {"muted_until": text})

    assert refusal(answer) == (422, "span-invalid")


def test_a_finding_is_assigned_to_who_may_mend_it(
    script: Script, found: StoredFinding
) -> None:
    new_user("vera")
    address = f"{V1}/health/{found.pk}"

    refused = script.call("PATCH", address, {"assignee": "vera"})
    unknown = script.call("PATCH", address, {"assignee": "nemo"})
    taken = script.call("PATCH", address, {"assignee": "bob"})

    assert refusal(refused) == (422, "assignee-invalid")
    assert refusal(unknown) == (404, "user-not-found")
    assert taken.json()["assignee"] == "bob"
    listed = script.call("GET", f"{V1}/health?state=mine").json()["findings"]
    assert [one["id"] for one in listed] == [found.pk]


def test_the_form_states_what_it_shows(found: StoredFinding) -> None:
    client = signed_in("eve", role=User.Role.EDITOR)
    sent = {"acknowledged": ["false", "on"], "assignee": "eve", "muted_until": ""}

    answer = client.post(f"/health/{found.pk}/update", sent)

    assert answer["Location"] == f"/health/?open={found.pk}"
    found.refresh_from_db()
    assert (found.acknowledged_by, found.muted_until) == ("eve", None)
    assert found.assignee is not None
    client.post(f"/health/{found.pk}/update", {**sent, "acknowledged": "false"})
    found.refresh_from_db()
    assert found.acknowledged_at is None


def test_the_list_keeps_its_filters_after_a_change(found: StoredFinding) -> None:
    client = signed_in("eve", role=User.Role.EDITOR)
    query = "namespace=sales&sort=table&q=a%26b&page=2"
    shown = client.get(f"/health/?namespace=sales&sort=table&open={found.pk}")
    kept = f"namespace=sales&amp;sort=table&amp;open={found.pk}"
    assert f'name="list" value="{kept}"' in shown.content.decode()

    for muted_until in ("7d", "soon"):  # the second is refused
        sent = {"muted_until": muted_until, "list": f"{query}&next=//evil.example"}
        answer = client.post(f"/health/{found.pk}/update", sent)
        address, _, sent_query = answer["Location"].partition("?")

        assert (answer.status_code, address) == (302, "/health/")
        assert set(sent_query.split("&")) == {*query.split("&"), f"open={found.pk}"}


def test_a_finding_of_sharing_is_nothing_for_an_editor(
    script: Script, found: StoredFinding
) -> None:
    StoredFinding.objects.filter(pk=found.pk).update(is_of_sharing=True)

    answer = script.call("PATCH", f"{V1}/health/{found.pk}", {"acknowledged": True})

    assert refusal(answer) == (404, "finding-not-found")


def test_somebody_may_ask_for_a_check_of_all(script: Script, orders: Table) -> None:
    answer = script.call("POST", f"{V1}/health/check", {})

    job = Job.objects.get(kind="tables.examine")
    assert answer.status_code == 202, answer.content
    assert answer.json()["job"]["id"] == str(job.id)
    assert job.requested_by == script.user
    assert orders.health_checked_at is None
