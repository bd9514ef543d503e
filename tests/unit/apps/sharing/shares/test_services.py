import pytest

from apps.audit.models import AuditEvent
from apps.pages.actions import Actor, Stamp
from apps.sharing import errors
from apps.sharing.models import Grant, Share, SharedTable
from apps.sharing.shares import services as shares
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_user,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]
WHO = Actor(name="ada", address="192.0.2.1")
STAMP = Stamp(WHO, NOW)


def actions() -> list[str]:
    return list(AuditEvent.objects.order_by("id").values_list("action", flat=True))


class TestCreateShare:
    def test_keeps_the_spelling_and_records_who(self) -> None:
        ada = new_user("ada")

        share = shares.create_share(
            name="Sales",
            comment=" Ours ",
            stamp=Stamp(Actor(name="ada", user_id=ada.pk), NOW),
        )

        assert (share.name, share.name_key, share.comment) == ("Sales", "sales", "Ours")
        assert share.created_by == ada
        event = AuditEvent.objects.get()
        assert (event.action, event.share, event.actor) == (
            "share.create",
            "Sales",
            "ada",
        )

    def test_a_name_is_taken_whatever_its_capitals(self) -> None:
        new_share("sales")

        with pytest.raises(errors.NameTakenError) as caught:
            shares.create_share(name="SALES", stamp=STAMP)

        assert caught.value.status == 409
        assert actions() == []


class TestRenameShare:
    def test_changes_its_name(self) -> None:
        share = shares.rename_share(new_share(), name="Revenue", stamp=STAMP)

        assert Share.objects.get().name_key == "revenue"
        assert share.name == "Revenue"
        assert AuditEvent.objects.get().detail == {"old": "sales", "new": "Revenue"}

    def test_may_change_capitals_alone(self) -> None:
        shares.rename_share(new_share(), name="SALES", stamp=STAMP)

        assert Share.objects.get().name == "SALES"

    def test_leaves_it_alone_when_the_name_is_taken(self) -> None:
        share = new_share("sales")
        new_share("revenue")

        with pytest.raises(errors.NameTakenError):
            shares.rename_share(share, name="Revenue", stamp=STAMP)

        assert (share.name, share.name_key) == ("sales", "sales")

    def test_to_the_same_name_is_no_change(self) -> None:
        shares.rename_share(new_share(), name="sales", stamp=STAMP)

        assert actions() == []


class TestUpdateShare:
    def test_only_a_change_is_recorded(self) -> None:
        share = new_share(comment="Ours")

        shares.update_share(share, comment="Ours ", stamp=STAMP)
        shares.update_share(share, comment="Yours", stamp=STAMP)

        assert Share.objects.get().comment == "Yours"
        assert actions() == ["share.update"]
        assert AuditEvent.objects.get().detail == {"old": "Ours", "new": "Yours"}


class TestDeleteShare:
    def test_takes_grants_along_and_names_them(self) -> None:
        share = new_share()
        new_shared_table(share)
        new_grant(share, new_recipient())

        shares.delete_share(share, stamp=STAMP)

        assert not Grant.objects.exists()
        assert not SharedTable.objects.exists()
        detail = AuditEvent.objects.get().detail
        assert detail == {"tables": ["crm.orders"], "recipients": ["acme"]}
