"""A share that is made in one step: its tables, its readers, or all of its faults."""

from uuid import uuid4

import pytest

from apps.audit.models import AuditEvent
from apps.pages.actions import Actor, Stamp
from apps.sharing.drafts.draft import Draft, DraftRecipient, DraftTable, usual_part
from apps.sharing.drafts.services import MadeShare, make_share
from apps.sharing.models import Recipient, RecipientToken, Share
from apps.tables.models import Table
from tests.support import cases
from tests.support.pages.factories import (
    NOW,
    new_metadata,
    new_recipient,
    new_share,
    new_table,
)

pytestmark = pytest.mark.django_db
ONE_RECIPIENT = DraftRecipient(name="globex", lifetime="30d")


def make(draft: Draft, *, is_trial: bool = False) -> MadeShare:
    return make_share(draft, stamp=Stamp(Actor(name="ada"), NOW), is_trial=is_trial)


def actions() -> list[str]:
    events = AuditEvent.objects.order_by("id")
    return list(events.values_list("action", flat=True))


def drafted(table: Table, name: str = "orders", *, start: str = "", where: str = ""):
    return DraftTable(
        table_id=str(table.id),
        schema="crm",
        name=name,
        part={**usual_part(), "start_version": start, "condition": where},
    )


@pytest.fixture
def orders() -> Table:
    table = new_table("crm.orders")
    new_metadata(table, partition_columns=["note"])
    return table


class TestMakeShare:
    def test_makes_tables_and_grants(self, orders: Table) -> None:
        new_recipient("Acme")
        table = drafted(orders, start="1", where="note = 'EU'")

        made = make(Draft(name="sales", tables=(table,), recipients=("ACME",)))

        assert made.faults.is_empty
        shared = made.share.shared_tables.get()
        assert (shared.start_version, shared.condition) == (1, "note = 'EU'")
        assert made.share.recipients.get().name == "Acme"
        assert made.credentials == []
        assert actions() == ["share.create", "share.add_table", "grant.add"]

    def test_makes_recipients_with_their_tokens_and_links(self) -> None:
        new = (ONE_RECIPIENT, DraftRecipient(name="initech", lifetime="7d"))

        made = make(Draft(name="sales", new_recipients=new))

        readers = [one.name for one in made.share.recipients.order_by("name")]
        assert readers == ["globex", "initech"]
        issued = [one.token for one in made.credentials]
        assert [token.recipient.name for token in issued] == readers
        assert [(token.expires_at - NOW).days for token in issued] == [30, 7]
        assert len({one.link for one in made.credentials}) == 2

    def test_a_trial_leaves_nothing(self, orders: Table) -> None:
        draft = Draft(
            name="retail", tables=(drafted(orders),), new_recipients=(ONE_RECIPIENT,)
        )

        assert make(draft, is_trial=True).faults.is_empty
        assert not Share.objects.exists()
        assert not Recipient.objects.exists()
        assert actions() == []

    @cases(
        "draft",
        {
            "a bad name": Draft(name="a b"),
            "a recipient that has gone": Draft(name="sales", recipients=("nobody",)),
            "a token that would live too long": Draft(
                name="sales",
                new_recipients=(
                    ONE_RECIPIENT,
                    DraftRecipient(name="initech", lifetime="9999d"),
                ),
            ),
            "a table that has gone": Draft(name="sales").with_table(
                uuid4(), schema="s", name="t"
            ),
        },
    )
    def test_all_or_nothing(self, draft: Draft) -> None:
        assert not make(draft).faults.is_empty
        for model in (Share, Recipient, RecipientToken, AuditEvent):
            assert not model.objects.exists()

    def test_every_fault_is_named_at_once(self, orders: Table) -> None:
        new_share("retail")
        new_recipient("globex")
        draft = Draft(
            name="Retail",
            tables=(
                drafted(orders),
                drafted(orders, "ORDERS"),
                DraftTable(table_id=str(uuid4()), schema="crm", name="gone"),
                DraftTable(table_id=str(orders.id), schema="a.b", name="c"),
                drafted(orders, "d", start="99"),
                drafted(orders, "e", where="x = 1"),
                drafted(orders, "f", start="soon"),
                drafted(orders, "g", where="note = 'EU'" + " OR note = 'EU'" * 1000),
            ),
            recipients=("nobody",),
            new_recipients=(
                DraftRecipient(name="initech", lifetime="30d"),
                DraftRecipient(name="INITECH", lifetime="30d"),
                DraftRecipient(name="Globex", lifetime="30d"),
                DraftRecipient(name="umbrella", contact="nowhere", lifetime="30d"),
                DraftRecipient(name="hooli", lifetime="soon"),
            ),
        )

        faults = make(draft, is_trial=True).faults

        assert faults.share is not None
        assert faults.share.code == "name-taken"
        assert {place: error.code for place, error in faults.tables.items()} == {
            1: "name-taken",
            2: "table-not-registered",
            3: "name-invalid",
            4: "start-version-invalid",
            5: "condition-invalid",
            6: "start-version-invalid",
            7: "condition-invalid",
        }
        assert faults.missing_recipients == ["nobody"]
        refused = faults.new_recipients.items()
        assert {place: error.code for place, error in refused} == {
            1: "name-taken",
            2: "name-taken",
            3: "contact-invalid",
            4: "lifetime-invalid",
        }
        assert [recipient.name for recipient in Recipient.objects.all()] == ["globex"]
        assert [share.name for share in Share.objects.all()] == ["retail"]
