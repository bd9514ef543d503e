"""A share that is made in one step, with its tables and readers."""

from uuid import uuid4

import pytest

from apps.audit.models import AuditEvent
from apps.pages.actions import Actor
from apps.sharing import errors
from apps.sharing.models import Recipient, RecipientToken, Share
from apps.sharing.services.share_drafts import (
    RecipientDraft,
    ShareDraft,
    TableDraft,
    create_from_draft,
)
from apps.tables.errors import TableNotRegisteredError
from apps.tables.models import Table
from tests.factories import NOW, new_metadata, new_recipient, new_table

pytestmark = pytest.mark.django_db
WHO = Actor(name="ada")


def actions() -> list[str]:
    events = AuditEvent.objects.order_by("id")
    return list(events.values_list("action", flat=True))


def partitioned() -> Table:
    table = new_table("crm.orders")
    new_metadata(table, partition_columns=["note"])
    return table


class TestCreateFromDraft:
    def test_makes_tables_and_grants(self) -> None:
        table = partitioned()
        new_recipient("Acme")

        made = create_from_draft(
            ShareDraft(
                name="sales",
                comment="Ours",
                tables=(
                    TableDraft(
                        table_id=table.id,
                        schema="crm",
                        name="orders",
                        start_version=1,
                        partition_filter="note = 'EU'",
                    ),
                ),
                recipient_names=("ACME",),
            ),
            actor=WHO,
            now=NOW,
        )

        assert made.share.shared_tables.get().partition_filter == "note = 'EU'"
        assert made.share.recipients.get().name == "Acme"
        assert made.handovers == ()
        assert actions() == ["share.create", "share.add_table", "grant.add"]

    def test_makes_recipients_with_their_tokens_and_links(self) -> None:
        draft = ShareDraft(
            name="sales",
            new_recipients=(
                RecipientDraft(name="globex", contact="a@b.example", lifetime="30d"),
                RecipientDraft(name="initech", lifetime="7d"),
            ),
        )

        made = create_from_draft(draft, actor=WHO, now=NOW)

        assert [one.name for one in made.share.recipients.order_by("name")] == [
            "globex",
            "initech",
        ]
        assert [one.token.recipient.name for one in made.handovers] == [
            "globex",
            "initech",
        ]
        lives = [(one.token.expires_at - NOW).days for one in made.handovers]
        assert lives == [30, 7]
        assert len({one.link for one in made.handovers}) == 2

    @pytest.mark.parametrize(
        ("changes", "error"),
        [
            pytest.param({"name": "a b"}, errors.NameInvalidError, id="a bad name"),
            pytest.param(
                {"recipient_names": ("nobody",)},
                errors.RecipientNotFoundError,
                id="a recipient that has gone",
            ),
            pytest.param(
                {
                    "new_recipients": (
                        RecipientDraft(name="globex", lifetime="30d"),
                        RecipientDraft(name="initech", lifetime="9999d"),
                    )
                },
                errors.LifetimeInvalidError,
                id="a recipient that would live too long",
            ),
            pytest.param(
                {"tables": (TableDraft(table_id=uuid4(), schema="s", name="t"),)},
                TableNotRegisteredError,
                id="a table that has gone",
            ),
        ],
    )
    def test_all_or_nothing(
        self, changes: dict[str, object], error: type[Exception]
    ) -> None:
        draft = ShareDraft(**{"name": "sales", **changes})  # type: ignore[arg-type]  # of mixed types

        with pytest.raises(error):
            create_from_draft(draft, actor=WHO, now=NOW)

        assert not Share.objects.exists()
        assert not Recipient.objects.exists()
        assert not RecipientToken.objects.exists()
        assert actions() == []

    def test_two_tables_of_one_name_are_refused(self) -> None:
        ids = [new_table(name).id for name in ("a", "b")]
        tables = tuple(TableDraft(table_id=i, schema="s", name="t") for i in ids)

        with pytest.raises(errors.NameTakenError):
            create_from_draft(
                ShareDraft(name="sales", tables=tables), actor=WHO, now=NOW
            )

        assert not Share.objects.exists()
