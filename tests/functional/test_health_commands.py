"""`deltaweb health` lists findings, and keeps what people say of them."""

import pytest

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.tables.management.commands.health import Command
from apps.tables.models import NamespaceThresholds, StoredFinding
from tests.functional.command_line import Ran, refusal, run_json
from tests.support import cases
from tests.support.pages.factories import new_table, new_user
from tests.support.pages.findings import stored

pytestmark = pytest.mark.django_db


@pytest.fixture
def found() -> StoredFinding:
    return stored(new_table("sales.orders"))[0]


@cases(
    "line, listed",
    {
        "alone": ([], "84 files of 3 KiB"),
        "of a table": (["sales.orders"], "84 files of 3 KiB"),
        "by its name": (["list"], "84 files of 3 KiB"),
        "as JSON": (["--json"], '"rule": "small-files"'),
    },
)
@pytest.mark.usefixtures("found")
def test_it_lists_findings(line: list[str], listed: str) -> None:
    assert listed in Ran("health", *Command().completed(line)).stdout


@pytest.mark.parametrize("line", [["--help"], ["mute", "7", "--until", "7d"]])
def test_a_line_that_is_complete_stays(line: list[str]) -> None:
    assert Command().completed(line) == line


def test_a_finding_is_acknowledged_muted_and_assigned(found: StoredFinding) -> None:
    new_user("bob", role=User.Role.EDITOR)
    for verb in (["acknowledge"], ["mute", "--until", "7d"], ["assign", "--to", "bob"]):
        Ran("health", *verb, found.pk)

    found.refresh_from_db()
    assert found.acknowledged_at is not None
    assert found.muted_until is not None
    assert str(found.assignee) == "bob"
    assert run_json("health", "list") == []

    Ran("health", "acknowledge", found.pk, "--end")
    Ran("health", "mute", found.pk, "--end")
    said = Ran("health", "assign", found.pk, "--end").stdout

    neither = "neither acknowledged, muted nor assigned"
    assert said.strip() == f"Finding {found.pk} of sales.orders is {neither}."
    (again,) = run_json("health", "list")
    assert (again["id"], again["table"]) == (found.pk, "sales.orders")
    actions = AuditEvent.objects.values_list("action", flat=True)
    names = ["finding.acknowledge", "finding.assign", "finding.mute"]
    assert sorted(actions) == sorted(2 * names)


@cases(
    "line, said",
    {
        "without a date": (["mute"], "give --until, or --end"),
        "until the past": (["mute", "--until", "2001-01-01"], "at most a year"),
        "to nobody": (["assign"], "cannot take care"),
        "to a viewer": (["assign", "--to", "vera"], "cannot take care"),
        "to a stranger": (["assign", "--to", "nemo"], "nemo"),
    },
)
def test_what_cannot_be_is_refused(
    found: StoredFinding, line: list[str], said: str
) -> None:
    new_user("vera")

    assert said in refusal("health", *line, found.pk)

    found.refresh_from_db()
    assert (found.muted_until, found.assignee) == (None, None)


@pytest.mark.parametrize("number", ["0", "x", "9" * 30, "1; DROP TABLE"])
def test_a_number_that_no_finding_has_is_refused(number: str) -> None:
    assert "There is no finding" in refusal("health", "acknowledge", number)


def test_a_threshold_is_set_and_removed() -> None:
    line = ("health", "threshold", "raw", "small_files")

    said = Ran(*line, "--value", "70").stdout
    shown = run_json(*line)
    usual = Ran(*line, "--usual").stdout

    assert said.strip() == "small_files of raw is 70."
    assert (shown["value"], shown["is_own"]) == (70, True)
    assert usual.strip() == "small_files of raw is 50, which is the usual value."
    assert not NamespaceThresholds.objects.exists()
    assert AuditEvent.objects.filter(action="health.set_threshold").count() == 2
    assert "no health threshold" in refusal(*line[:3], "luck", "--value", "1")
