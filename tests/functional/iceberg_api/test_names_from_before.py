"""Names that were given before a change, by the Iceberg door: they open nothing."""

from pathlib import Path

import pytest
from django.test import override_settings
from django.utils import timezone
from pytest_django import Settings

from apps.pages.actions import command_stamp
from apps.sharing.models import SharedTable
from apps.sharing.shares.services import switch_share
from tests.functional.iceberg_api.reading import Loaded, every_status, load
from tests.functional.sharing_api.calls import Caller
from tests.functional.sharing_api.conftest import caller_of
from tests.functional.sharing_api.ruled import Ruled, new_staff
from tests.support import cases
from tests.support.pages.factories import new_share, new_shared_table, new_table

OF_RECIPIENT = "region = recipient.region"
SEEN = ("id", "region", "note")
NOT_READY = 409
NARROWED = {
    "a condition": lambda staff, _: staff.rule("id < 3"),
    "columns": lambda staff, _: staff.rule(OF_RECIPIENT, *SEEN),
    "another property": lambda _, acme: with_property(acme, "US"),
    "no rule any more": lambda staff, _: staff.rule(""),
    "a first version": lambda *_: SharedTable.objects.update(start_version=3),
}
ENDED = {
    "the share is off": lambda staff, _: switch_share(
        staff.shared.share, is_on=False, stamp=command_stamp()
    ),
    "the token is revoked": lambda _, acme: revoke(acme),
    "the grant is gone": lambda staff, _: staff.shared.share.grants.all().delete(),
}


def with_property(caller: Caller, region: str) -> None:
    caller.recipient.properties = {"region": region}
    caller.recipient.save()


def revoke(caller: Caller) -> None:
    caller.token.revoked_at = timezone.now()
    caller.token.save()


Given = tuple[Ruled, Caller, Loaded]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("given")


@pytest.fixture(scope="module")
def given(module_db: None, home: Path) -> Given:  # noqa: ARG001 (a database)
    """A table of which a recipient sees a part, and the names that it was given."""
    with override_settings(HOME=home, PREPARED_FILES=str(home / "prepared")):
        root = home / "lake" / "staff"
        table = new_table("hr.staff", location=str(root), version=3)
        shared = new_shared_table(new_share("People"), "hr.staff", table=table)
        staff = Ruled(new_staff(root), shared)
        acme = caller_of("acme", shared.share, properties={"region": "EU"})
        staff.rule(OF_RECIPIENT)
        staff.prepare()
        before = load(acme, "/v1/namespaces/people%1Fhr/tables/staff")
        assert every_status(before, before) == {200}
    return staff, acme, before


@cases("change", {**NARROWED, **ENDED})
@pytest.mark.usefixtures("db")
def test_open_nothing(given: Given, home: Path, settings: Settings, change) -> None:
    staff, acme, before = given
    settings.HOME, settings.PREPARED_FILES = home, str(home / "prepared")

    change(staff, acme)

    refusals = {403} if change in ENDED.values() else {404}
    assert every_status(before, before) - {NOT_READY} == refusals
    staff.prepare()
    assert every_status(before, before) == refusals
