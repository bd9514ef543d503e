"""A namespace may have thresholds of its own."""

import pytest

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.tables.models import NamespaceThresholds, StoredFinding
from tests.support.pages.factories import NOW, new_table, signed_in
from tests.support.pages.rest import V1, Script, refusal

pytestmark = pytest.mark.django_db
RAW = f"{V1}/health/thresholds/raw/small_files"


@pytest.fixture
def script() -> Script:
    return Script("read", "write", role=User.Role.EDITOR, name="bob")


def test_a_threshold_is_set_and_removed_and_the_tables_follow(script: Script) -> None:
    histogram = {
        "edges": [0, 1024, 4096],
        "counts": [0, 84],
        "bytes": [0, 84 * 3000],
    }
    summary = {"size_histogram": histogram}
    new_table("raw.t", num_files=84, size_bytes=84 * 3000, summary=summary)

    script.call("PUT", RAW, {"value": 10})
    found = StoredFinding.objects.open().filter(rule="small-files").count()
    answer = script.call("PUT", RAW, {"value": 200})

    assert (found, StoredFinding.objects.open().count()) == (1, 0)
    assert answer.json()["value"] == 200
    listed = script.call("GET", f"{V1}/health/rules").json()["thresholds"]
    own = {one["name"]: one["namespaces"] for one in listed}
    assert own["small_files"] == {"raw": 200}
    assert AuditEvent.objects.filter(action="health.set_threshold").count() == 2
    script.call("PUT", RAW, {"value": None})
    assert not NamespaceThresholds.objects.exists()


@pytest.mark.parametrize("value", [0, -1, 1 << 60, "many"])
def test_a_value_that_a_threshold_cannot_have_is_refused(
    script: Script, value: object
) -> None:
    answer = script.call("PUT", RAW, {"value": value})

    assert answer.status_code in {400, 422}
    assert not NamespaceThresholds.objects.exists()


def test_an_unknown_threshold_is_refused(script: Script) -> None:
    answer = script.call("PUT", f"{V1}/health/thresholds/raw/luck", {"value": 1})

    assert refusal(answer) == (404, "health-threshold-unknown")


def test_the_page_lists_rules_and_takes_a_threshold() -> None:
    new_table("raw.t")
    new_table("payroll.salaries", is_private=True)
    values = {"small_files": 7}
    NamespaceThresholds.objects.create(
        namespace="payroll", values=values, changed_at=NOW
    )
    client = signed_in("eve", role=User.Role.ADMIN)
    sent = {"namespace": "raw", "threshold": "small_files", "value": "9"}

    answer = client.post("/health/thresholds/set", sent)

    assert answer["Location"] == "/health/rules"
    page = client.get("/health/rules").content.decode()
    assert "raw: 9 files" in page
    assert "payroll: 7 files" in page
    assert "payroll" not in signed_in("vera").get("/health/rules.json").content.decode()
