"""The provider API of Unity Catalog: what odd clients send, and who may not."""

from typing import Any

import pytest

from apps.accounts.models import User
from apps.api.models import KeptAnswer
from apps.sharing.models import Recipient, Share, SharedTable
from tests.support import cases
from tests.support.pages.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_table,
    new_token,
    new_unindexed_table,
)
from tests.support.pages.rest import Script

pytestmark = pytest.mark.django_db
UNITY = "/api/2.1/unity-catalog"
HUGE = 10**30


@pytest.fixture
def script() -> Script:
    return Script()


def table_change(**facts: object) -> dict[str, Any]:
    """The body that puts the table of orders into a share."""
    shared = {"name": "sales.orders", "data_object_type": "TABLE", **facts}
    return {"updates": [{"action": "ADD", "data_object": shared}]}


class TestATable:
    def test_is_shared_without_history_unless_it_is_asked_for(self, script) -> None:
        new_share("retail")
        new_table("sales.orders")

        script.made(f"{UNITY}/shares/retail", table_change(), method="PATCH")

        shared = SharedTable.objects.get()
        assert (shared.with_history, shared.full_name) == (False, "sales.orders")

    def test_is_shared_from_its_newest_version_on_with_history(self, script) -> None:
        new_share("retail")
        new_table("sales.orders", latest_version_seen=7)
        body = table_change(history_data_sharing_status="ENABLED")

        script.made(f"{UNITY}/shares/retail", body, method="PATCH")

        shared = SharedTable.objects.get()
        assert (shared.with_history, shared.start_version) == (True, 7)

    @cases(
        "facts, said",
        {
            "partitions": ({"partitions": []}, "'partitions' is not"),
            "a view": ({"data_object_type": "VIEW"}, "VIEW"),
            "a name of three parts": ({"shared_as": "a.b.c"}, ""),
            "a huge version": (
                {"history_data_sharing_status": "ENABLED", "start_version": HUGE},
                "too large",
            ),
        },
    )
    def test_is_refused_in_words_and_not_shared_otherwise(self, script, facts, said):
        new_share("retail")
        new_unindexed_table("sales.orders")

        answer = script.call("PATCH", f"{UNITY}/shares/retail", table_change(**facts))

        assert (answer.status_code, answer.json()["error_code"]) == (
            400,
            "INVALID_PARAMETER_VALUE",
        )
        assert said in answer.json()["message"]
        assert not SharedTable.objects.exists()


class TestAnUpdateOfATable:
    """As databricks-sdk sends it, which leaves out what is not set."""

    @pytest.fixture
    def shared(self, script: Script) -> SharedTable:
        new_share("retail")
        new_table("sales.orders", latest_version_seen=7)
        open_from = {"history_data_sharing_status": "ENABLED", "start_version": 5}
        script.made(f"{UNITY}/shares/retail", table_change(**open_from), method="PATCH")
        return SharedTable.objects.get()

    @cases(
        "facts, with_history, start_version",
        {
            "a comment": ({"comment": "Ours"}, True, 5),
            "history": ({"history_data_sharing_status": "ENABLED"}, True, 5),
            "no history": ({"history_data_sharing_status": "DISABLED"}, False, 5),
            "no changes": ({"cdf_enabled": False}, False, 5),
            "one word after the other": (
                {"history_data_sharing_status": "DISABLED", "cdf_enabled": True},
                *(False, 5),
            ),
            "a version": ({"start_version": 6}, True, 6),
            "no version": ({"start_version": ""}, True, None),
            "null": ({"start_version": None, "cdf_enabled": None}, True, 5),
        },
    )
    def test_changes_what_it_has(
        self, script, shared, facts, with_history, start_version
    ):
        body = table_change(**facts)
        body["updates"][0]["action"] = "UPDATE"

        script.made(f"{UNITY}/shares/retail", body, method="PATCH")

        shared.refresh_from_db()
        assert (shared.with_history, shared.start_version) == (
            with_history,
            start_version,
        )

    def test_opens_history_from_its_newest_version_on(self, script, shared) -> None:
        SharedTable.objects.update(with_history=False, start_version=None)
        body = table_change(history_data_sharing_status="ENABLED")
        body["updates"][0]["action"] = "UPDATE"

        script.made(f"{UNITY}/shares/retail", body, method="PATCH")

        shared.refresh_from_db()
        assert (shared.with_history, shared.start_version) == (True, 7)


@pytest.mark.parametrize(
    ("listed", "networks"),
    [
        ({}, ["192.0.2.0/24"]),
        ({"allowed_ip_addresses": None}, ["192.0.2.0/24"]),
        ({"allowed_ip_addresses": [""]}, []),
        ({"allowed_ip_addresses": []}, []),
    ],
)
def test_an_allow_list_goes_only_where_that_is_said(script, listed, networks) -> None:
    new_recipient("acme", allowed_networks=["192.0.2.0/24"])
    body = {"ip_access_list": listed}

    script.made(f"{UNITY}/recipients/acme", body, method="PATCH")

    assert Recipient.objects.get().allowed_networks == networks


@pytest.mark.parametrize("listed", [[" "], ["", ""], ["", "10.0.0.0/8"]])
def test_an_allow_list_with_blanks_is_refused(script, listed) -> None:
    new_recipient("acme", allowed_networks=["192.0.2.0/24"])
    body = {"ip_access_list": {"allowed_ip_addresses": listed}}

    answer = script.call("PATCH", f"{UNITY}/recipients/acme", body)

    assert answer.status_code >= 400
    assert Recipient.objects.get().allowed_networks == ["192.0.2.0/24"]


class TestALink:
    def test_is_kept_nowhere_and_told_as_given(self, script: Script) -> None:
        body = {"name": "acme", "authentication_type": "TOKEN"}

        first = script.call("POST", f"{UNITY}/recipients", body, once="k1").json()
        again = script.call("POST", f"{UNITY}/recipients", body, once="k1")

        assert "/activate/" in first["activation_url"]
        assert (again.status_code, again.json()["error_code"]) == (
            409,
            "RESOURCE_CONFLICT",
        )
        assert "/activate/" not in KeptAnswer.objects.get().body
        assert Recipient.objects.count() == 1


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "shares?page_token=%00", None, 400),
        ("GET", "shares?page_token=%ED%A0%80", None, 200),
        ("GET", f"shares?max_results={HUGE}", None, 400),
        ("GET", "shares?max_results=-1", None, 400),
        ("GET", "shares/%00", None, 404),
        ("GET", "shares/..%2F..", None, 404),
        ("GET", "nothing", None, 404),
        ("PUT", "shares", {}, 405),
        ("POST", "shares", [], 400),
        ("PATCH", "shares/retail", {"updates": "x"}, 400),
        ("PATCH", "shares/retail/permissions", {"changes": [{"principal": 1}]}, 404),
        ("POST", "recipients/acme/rotate-token", {}, 400),
        (
            "POST",
            "recipients/acme/rotate-token",
            {"existing_token_expire_in_seconds": HUGE},
            400,
        ),
        (
            "POST",
            "recipients",
            {"name": "x", "authentication_type": "TOKEN", "expiration_time": HUGE},
            400,
        ),
    ],
)
def test_what_makes_no_sense_is_refused(script, method, path, body, status) -> None:
    new_token(new_recipient("acme"))
    new_share("retail")

    answer = script.call(method, f"{UNITY}/{path}", body)

    assert answer.status_code == status, answer.content
    assert Recipient.objects.count() == 1


def test_it_is_for_administrators() -> None:
    new_grant(new_share("retail"), new_recipient("acme"))
    script = Script(role=User.Role.EDITOR, name="eve")

    read = script.call("GET", f"{UNITY}/shares/retail/permissions")
    deleted = script.call("DELETE", f"{UNITY}/shares/retail")

    assert read.json()["error_code"] == "PERMISSION_DENIED"
    assert deleted.status_code == 403
    assert Share.objects.exists()
