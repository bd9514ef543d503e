"""Editors set and end schedules of maintenance."""

from datetime import time

import pytest

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.tables.models import RepeatedOperation, Table
from tests.support.pages.factories import new_table, signed_in
from tests.support.pages.rest import V1, Script, refusal

pytestmark = pytest.mark.django_db
ADDRESS = f"{V1}/tables/sales/orders/repeats"


@pytest.fixture
def orders(db: None) -> Table:  # noqa: ARG001 (a row)
    return new_table("sales.orders")


@pytest.fixture
def script() -> Script:
    return Script("read", "write", role=User.Role.EDITOR, name="bob")


def test_a_vacuum_is_repeated_on_sundays(script: Script, orders: Table) -> None:
    asked = {"every": "sunday", "at": "03:00", "keep": "30d"}
    answer = script.call("PUT", f"{ADDRESS}/vacuum", asked)

    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert found["words"] == "Sundays at 03:00 UTC"
    assert (found["keep_hours"], found["last_state"]) == (720, None)
    repeat = RepeatedOperation.objects.get(table=orders)
    assert (repeat.at, repeat.created_by) == (time(3), script.user)
    assert AuditEvent.objects.get(action="repeat.set").table == "sales.orders"
    page = script.call("GET", f"{V1}/tables/sales/orders/maintenance").json()
    assert [one["operation"] for one in page["repeats"]] == ["vacuum"]


def test_a_value_that_is_left_out_stays(script: Script, orders: Table) -> None:
    script.call("PUT", f"{ADDRESS}/vacuum", {"every": "day", "keep": "30d"})

    script.call("PUT", f"{ADDRESS}/vacuum", {"at": "04:30"})

    repeat = RepeatedOperation.objects.get(table=orders)
    assert (repeat.every, repeat.at) == ("day", time(4, 30))
    assert repeat.parameters == {"hours": 720.0}
    script.call("PUT", f"{ADDRESS}/vacuum", {"keep": None})
    repeat.refresh_from_db()
    assert repeat.parameters == {}


@pytest.mark.usefixtures("orders")
@pytest.mark.parametrize(
    ("operation", "asked", "refused"),
    [
        ("vacuum", {"at": "25:00"}, (422, "repeat-invalid")),
        ("vacuum", {"at": "noon"}, (422, "repeat-invalid")),
        ("vacuum", {"keep": "for ever"}, (422, "repeat-invalid")),
        ("vacuum", {"keep": "0"}, (422, "repeat-invalid")),
        ("optimize", {"keep": "30d"}, (422, "repeat-invalid")),
        ("delete", {}, (404, "repeat-unknown")),
    ],
)
def test_what_cannot_be_repeated_is_refused(
    script: Script, operation: str, asked: object, refused: tuple[int, str]
) -> None:
    answer = script.call("PUT", f"{ADDRESS}/{operation}", asked)

    assert refusal(answer) == refused
    assert not RepeatedOperation.objects.exists()


def test_a_schedule_is_ended(script: Script, orders: Table) -> None:
    script.call("PUT", f"{ADDRESS}/optimize", {})

    first = script.call("DELETE", f"{ADDRESS}/optimize")
    second = script.call("DELETE", f"{ADDRESS}/optimize")

    assert (first.json()["ended"], second.json()["ended"]) == (True, False)
    assert not RepeatedOperation.objects.filter(table=orders).exists()
    assert AuditEvent.objects.filter(action="repeat.end").count() == 1


def test_the_form_sets_and_ends_a_schedule(orders: Table) -> None:
    client = signed_in("eve", role=User.Role.EDITOR)
    sent = {"operation": "optimize", "every": "day", "at": "03:00", "keep": ""}

    answer = client.post("/t/sales/orders/repeat", sent)

    assert answer["Location"] == "/t/sales/orders/maintenance#repeat"
    page = client.get("/t/sales/orders/maintenance").content.decode()
    assert "every day at 03:00 UTC" in page
    client.post("/t/sales/orders/end-repeat", {"operation": "optimize"})
    assert not RepeatedOperation.objects.filter(table=orders).exists()


def test_a_viewer_sets_no_schedule(orders: Table) -> None:
    answer = signed_in("vera").post("/t/sales/orders/repeat", {"operation": "optimize"})

    assert answer.status_code == 403
    assert not RepeatedOperation.objects.filter(table=orders).exists()
