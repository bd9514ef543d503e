from datetime import timedelta

import pytest
from django.utils import timezone

from apps.sharing.models import Grant, RecipientToken
from tests.functional.sharing_api.calls import Caller, Lake, items, refused
from tests.functional.sharing_api.conftest import NewCaller
from tests.support import cases
from tests.support.pages.factories import (
    new_share,
    new_shared_table,
    new_table,
    new_token,
)


def change(caller: Caller, **fields: object) -> None:
    RecipientToken.objects.filter(id=caller.token.id).update(**fields)


class TestToken:
    @cases(
        "fields, word",
        {
            "expired": ({"expires_at": timezone.now()}, "ended"),
            "rotated away": ({"retires_at": timezone.now()}, "ended"),
            "revoked": ({"revoked_at": timezone.now()}, "revoked"),
            "not activated": ({"token_sha256": None}, "not known"),
        },
    )
    def test_that_is_over_is_told_why(self, acme, lake, fields, word):
        assert acme.get("/shares").status_code == 200

        change(acme, **fields)

        for answer in (acme.get("/shares"), acme.query(lake.path)):
            message = refused(answer, "UNAUTHENTICATED", 401)
            assert word in message
            assert acme.secret not in message

    def test_that_was_rotated_is_good_for_its_overlap(self, acme: Caller) -> None:
        change(acme, retires_at=timezone.now() + timedelta(minutes=5))
        successor = Caller(
            *new_token(acme.recipient, expires_at=timezone.now() + timedelta(days=1))
        )

        assert acme.get("/shares").status_code == 200
        assert successor.get("/shares").status_code == 200

    def test_remembers_its_last_use(self, acme: Caller) -> None:
        acme.get("/shares", User_Agent="Delta-Sharing-Python/1.4.1")

        token = RecipientToken.objects.get(id=acme.token.id)
        assert token.last_used_agent == "Delta-Sharing-Python/1.4.1"
        assert token.last_used_from == "127.0.0.1"


class TestAllowList:
    @pytest.fixture
    def caller(self, new_caller: NewCaller, lake: Lake) -> Caller:
        share = lake.shared.share
        return new_caller("acme", share, allowed_networks=["10.1.0.0/16"])

    def test_refuses_other_addresses(self, caller: Caller, lake: Lake) -> None:
        for path in ("/shares", "/shares/sales", f"{lake.path}/version"):
            refused(caller.get(path), "PERMISSION_DENIED", 403)

    def test_lets_its_own_in(self, caller: Caller) -> None:
        caller.recipient.allowed_networks += ["127.0.0.0/8"]
        caller.recipient.save()

        assert caller.get("/shares").status_code == 200

    def test_believes_no_claim_of_another_address(self, caller: Caller) -> None:
        assert caller.get("/shares", X_Forwarded_For="10.1.0.1").status_code == 403

    def test_tells_nobody_whether_a_token_is_good_without_one(self, caller: Caller):
        assert caller.get("/shares", Authorization="Bearer x").status_code == 401


class TestGrants:
    def test_of_others_open_nothing(self, acme, lake, new_caller):
        globex = new_caller("globex", new_share("Theirs"))

        assert [item["name"] for item in items(globex.get("/shares"))] == ["Theirs"]
        assert globex.query(lake.path).status_code == 404
        assert acme.get("/shares/theirs").status_code == 404

    def test_end_at_once(self, acme: Caller, lake: Lake) -> None:
        assert acme.query(lake.path).status_code == 200

        Grant.objects.all().delete()

        assert acme.query(lake.path).status_code == 404
        assert items(acme.get("/shares")) == []

    def test_of_a_share_open_its_own_tables_alone(self, acme: Caller, lake: Lake):
        other = new_shared_table(
            new_share("Other"), "crm.secrets", table=new_table("crm.secrets")
        )

        path = f"/shares/{lake.shared.share.name}/schemas/crm/tables/{other.name}"
        assert acme.get(f"{path}/version").status_code == 404
