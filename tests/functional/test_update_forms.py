"""A form of an update states every field that it shows, and changes no other.

Every form is found by its class, so that a new one has to be entered here: as an update
with its fields, or as one that changes nothing that is there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from django.db import transaction
from django.forms import Form
from django.test import Client
from django.urls import get_resolver

from apps.accounts.models import User
from apps.jobs import kinds
from apps.pages.changes.forms import form_of
from apps.pages.request.changes import ChangeForm
from apps.sharing.models import SharedSchema, SharedTable
from apps.sharing.shares.changes import ShareForm
from apps.sharing.shares.terms import Terms
from apps.tables.models import Lake
from tests.support.pages.browser_forms import ShownForm, forms_of
from tests.support.pages.factories import new_share, new_table, signed_in
from tests.support.pages.kept_rows import changed_since, kept_rows
from tests.support.pages.shared_world import World, shared_world

SharedTableForm: Final = form_of(Terms, ChangeForm)
pytestmark = [pytest.mark.django_db, pytest.mark.slow]
REFUSED: Final = 422


@dataclass(frozen=True)
class Shown:
    """A form on a page.

    Attributes:
        form: Its class; None if it is made of a `Change`.
        page: The page that shows it.
        action: Where it is sent to; empty for the page.
        empties: The columns that differ, by the field that is emptied, unchecked or
            set to another option; none where that is refused.
    """

    form: type[Form] | None
    page: str
    action: str
    empties: Mapping[str, set[str]]


OFFER: Final = {
    name: {f"sharedtable.{name}"}
    for name in (
        *("with_history", "start_version", "condition", "columns", "comment"),
        "plain",
    )
}
RULE: Final = {"condition", "columns"}
UPDATES: Final = {
    "a share": Shown(
        ShareForm,
        "/shares/retail/settings",
        "/shares/retail/update",
        {
            "name": set(),
            "comment": {"share.comment"},
            "description": {"share.description"},
            "listed": {"share.is_listed"},
        },
    ),
    "a part of a table": Shown(
        SharedTableForm,
        "/shares/retail?edit={world.part.id}",
        "/shares/retail/tables/{world.part.id}/update",
        {
            **{name: OFFER[name] for name in OFFER if name not in RULE},
            "with_directory": set(),
        },
    ),
    "what recipients see of a table": Shown(
        SharedTableForm,
        "/shares/retail/tables/{world.part.id}/seen",
        "/shares/retail/tables/{world.part.id}/seen",
        {"condition": set(), "columns": set()},  # empty is refused: it is not all
    ),
    "the folder of a table": Shown(
        SharedTableForm,
        "/shares/retail?edit={world.folder.id}",
        "/shares/retail/tables/{world.folder.id}/update",
        {"with_directory": {"sharedtable.with_directory"}},
    ),
    "a recipient": Shown(
        None,
        "/recipients/acme/settings",
        "/recipients/acme/settings",
        {
            "contact": {"recipient.contact"},
            "comment": {"recipient.comment"},
            "networks": {"recipient.allowed_networks"},
            "properties": {"recipient.properties"},
        },
    ),
    "limits": Shown(
        None,
        "/recipients/acme/settings",
        "/recipients/acme/limits",
        {
            "soft": {"recipient.soft_limit_bytes"},
            "hard": {"recipient.hard_limit_bytes"},
        },
    ),
    "grants": Shown(None, "/recipients/acme/grants", "", {"shares": {"-grant"}}),
    "a table": Shown(
        None,
        "/t/sales/orders/settings",
        "",
        {
            "name": set(),
            "description": {"table.description"},
            "refresh": {"table.refresh_interval_s"},
            "restricted": {"table.is_private"},
        },
    ),
    "a lake": Shown(
        None,
        "/tables/lakes/{world.lake.id}",
        "",
        {
            "namespace": {"lake.namespace"},
            "schedule": {"lake.scan_interval_s"},
        },
    ),
}
ASKING: Final = {
    *("AccountForm", "PlaceForm", "UseForm", "StepForm", "ListForm", "SearchForm"),
    *("FollowingForm", "ChoicesForm", "WebhooksForm", "AuditFileForm"),
    *("RegisterQueryForm", "LakeListForm", "TreeForm", "EventsForm", "AccessForm"),
}
MAKING: Final = {
    *("ProfileForm", "ConvertForm"),
    *("CreationForm", "FileForm", "ImportForm", "TableRequestForm", "CheckForm"),
    "SignInForm",
}
# None of their fields can be left out, or one says what is done by the form.
WHOLE: Final = {"PasswordForm"}


OLD: Final = {"partition_filter"}
"""Names that only scripts send."""
DERIVED: Final = "apps.pages.changes.forms"
"""Where forms are made of parameters; `test_every_change` has their tests."""


def form_classes(base: type[Form] = Form) -> Iterator[type[Form]]:
    """Yield every form of the apps that is not made of a `Change`."""
    _ = get_resolver().url_patterns, kinds.all_kinds()
    for kind in base.__subclasses__():
        if kind.__module__.startswith("apps.") and kind.__module__ != DERIVED:
            yield kind
        yield from form_classes(kind)


def test_every_form_that_changes_something_is_entered_here() -> None:
    entered_forms = {one.form for one in UPDATES.values() if one.form}
    derived = {one for one in entered_forms if one.__module__[:5] != "apps."}
    updates = (entered_forms - derived) | {ChangeForm}
    changing = {kind for kind in {*form_classes()} if issubclass(kind, ChangeForm)}

    assert changing == updates
    for kind in entered_forms:
        entered = {
            name for one in UPDATES.values() if one.form is kind for name in one.empties
        }
        assert entered == set(kind.base_fields) - OLD


def test_every_other_form_changes_nothing_that_is_there() -> None:
    """Forms of operations are shown before they are done, and kept nowhere."""
    others = {
        kind.__name__
        for kind in form_classes()
        if not issubclass(kind, ChangeForm)
        and not kind.__name__.startswith("_")
        and ".operations." not in kind.__module__
        and ".explorer." not in kind.__module__
    }

    assert others - ASKING - MAKING - WHOLE == set()


@pytest.fixture
def admin(db: None) -> Client:  # noqa: ARG001 (people are rows)
    return signed_in("ada", role=User.Role.ADMIN)


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:  # noqa: ARG001 (rows)
    return shared_world(tmp_path)


def shown_form(admin: Client, page: str, action: str) -> ShownForm:
    """The form that a page shows for an action."""
    answer = admin.get(page, follow=True)
    assert answer.status_code == 200
    found = [one for one in forms_of(answer.content.decode()) if one.action == action]
    assert len(found) == 1
    return found[0]


def changes(admin: Client, shown: Shown, world: World, name: str = "") -> set[str]:
    """The columns that differ when a form is sent with one field cleared."""
    page, action = (text.format(world=world) for text in (shown.page, shown.action))
    form = shown_form(admin, page, action)
    if name:
        form.clear(name)
    with transaction.atomic():
        before = kept_rows()
        answer = admin.post(action or page, form.sent())
        changed = changed_since(before)
        transaction.set_rollback(True)
    assert answer.status_code in ({302} if changed or not name else {302, REFUSED})
    return changed


@pytest.mark.parametrize("what", UPDATES)
def test_a_field_that_is_cleared_is_all_that_changes(what, admin, world) -> None:
    shown = UPDATES[what]

    found = {name: changes(admin, shown, world, name) for name in shown.empties}

    assert found == shown.empties


@pytest.mark.parametrize("what", UPDATES)
def test_a_form_that_is_sent_as_it_is_changes_nothing(what, admin, world) -> None:
    assert changes(admin, UPDATES[what], world) == set()


@pytest.mark.parametrize("what", UPDATES)
def test_a_field_that_is_not_sent_stays(what, admin, world) -> None:
    shown = UPDATES[what]
    page, action = (text.format(world=world) for text in (shown.page, shown.action))
    shown_form(admin, page, action)  # the first visit of a table is recorded
    before = kept_rows()

    for name in ("", *shown.empties):
        sent = shown_form(admin, page, action).sent()
        admin.post(action or page, {name: sent[name]} if name else {})

    assert changed_since(before) == set()


class TestABoxThatIsNotChecked:
    def test_shares_a_table_without_history(self, admin: Client) -> None:
        new_share("retail")
        new_table("sales.orders")
        form = shown_form(
            admin, "/shares/retail?add=sales.orders", "/shares/retail/tables/add"
        )
        form.clear("with_history")

        admin.post(form.action, form.sent())

        assert SharedTable.objects.get().with_history is False

    def test_shares_a_namespace_without_history(self, admin: Client) -> None:
        new_share("retail")
        new_table("sales.orders")
        form = shown_form(admin, "/shares/retail", "/shares/retail/schemas/add")
        form.named("namespace").value = "sales"
        form.clear("with_history")

        admin.post(form.action, form.sent())

        assert SharedSchema.objects.get().with_history is False

    def test_is_kept_by_the_wizard(self, admin: Client) -> None:
        new_table("sales.orders")
        admin.get("/shares/new", {"table": "sales.orders"})
        form = shown_form(admin, "/shares/new?step=tables", "/shares/new")
        form.clear("t0-with_history")

        admin.post(form.action, form.sent())

        again = shown_form(admin, "/shares/new?step=tables", "/shares/new")
        assert not again.named("t0-with_history").is_on


def test_a_scan_of_a_lake_that_is_known_states_how_it_is_scanned(
    admin: Client, world: World
) -> None:
    form = shown_form(admin, "/tables/new/scan", "/tables/lakes/connect")
    form.named("root").value = world.lake.url
    sent = {name: values for name, values in form.sent().items() if name == "root"}

    admin.post(form.action, sent)
    kept = Lake.objects.get()
    admin.post(form.action, form.sent())
    stated = Lake.objects.get()

    assert (kept.namespace, kept.scan_interval_s) == ("raw", 3600)
    assert (stated.namespace, stated.scan_interval_s) == ("", 3600)
