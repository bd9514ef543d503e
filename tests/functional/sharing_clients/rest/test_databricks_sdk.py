"""The SDK of the field manages shares and recipients, unchanged."""

from typing import Any

import pytest
import requests

from tests.support import late
from tests.support.processes.installation import Installation

sdk = late("databricks.sdk")
errors = late("databricks.sdk.errors")
sharing = late("databricks.sdk.service.sharing")


def client_with(server: Installation, key: str) -> Any:  # noqa: ANN401 (a client)
    return sdk.WorkspaceClient(host=server.url, token=key, auth_type="pat")


@pytest.fixture(scope="module")
def client(server, sharing_key, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        nothing = tmp_path_factory.mktemp("config") / "none"
        patch.setenv("DATABRICKS_CONFIG_FILE", str(nothing))
        yield client_with(server, sharing_key)


def change(action, **facts):
    """Of the sample table of orders, as `sales.orders`."""
    shared = sharing.SharedDataObject(
        name="samples.orders",
        data_object_type=sharing.SharedDataObjectDataObjectType.TABLE,
        shared_as="sales.orders",
        **facts,
    )
    return [update(action, shared)]


def update(action: str, shared: object) -> Any:  # noqa: ANN401 (of the SDK)
    kind = sharing.SharedDataObjectUpdateAction(action)
    return sharing.SharedDataObjectUpdate(action=kind, data_object=shared)


def history(status: str) -> object:
    return sharing.SharedDataObjectHistoryDataSharingStatus(status)


class TestShares:
    def test_are_made_filled_renamed_and_deleted(self, client):
        made = client.shares.create("retail", comment="of the shop")
        client.shares.update("retail", updates=change("ADD", comment="by day"))
        (one,) = client.shares.get("retail", include_shared_data=True).objects or []
        bare = client.shares.get("retail")
        client.shares.update(
            "retail",
            updates=change("UPDATE", history_data_sharing_status=history("ENABLED")),
        )
        (opened,) = client.shares.get("retail", include_shared_data=True).objects or []
        emptied = client.shares.update(
            "retail", new_name="shop", updates=change("REMOVE")
        )
        client.shares.delete("shop")

        assert (made.name, made.comment, made.owner) == (
            "retail",
            "of the shop",
            "admin",
        )
        assert (one.name, one.shared_as, one.comment) == (
            "samples.orders",
            "sales.orders",
            "by day",
        )
        assert one.data_object_type is sharing.SharedDataObjectDataObjectType.TABLE
        assert one.history_data_sharing_status is history("DISABLED")
        assert bare.objects is None or bare.objects == []
        assert opened.history_data_sharing_status is history("ENABLED")
        assert opened.comment == "by day"
        assert (emptied.name, emptied.objects) == ("shop", [])
        with pytest.raises(errors.NotFound, match="'shop'"):
            client.shares.get("shop")

    def test_change_as_a_whole_or_not_at_all(self, client) -> None:
        client.shares.create("whole")

        with pytest.raises(errors.NotFound):
            client.shares.update(
                "whole", comment="changed", updates=[*change("ADD"), *_missing()]
            )

        left = client.shares.get("whole", include_shared_data=True)
        assert (left.comment, left.objects) == ("", [])


class TestRecipients:
    def test_are_made_with_a_link_that_opens_their_profile(self, client, server):
        made = client.recipients.create(
            "acme", sharing.AuthenticationType.TOKEN, comment="Co."
        )
        (token,) = made.tokens
        nonce = token.activation_url.rpartition("/")[2]
        profile = requests.post(f"{server.url}/activate/{nonce}", timeout=60).json()
        shown = client.recipients.get("acme")

        assert made.activation_url == token.activation_url
        assert (made.authentication_type, made.activated) == (
            sharing.AuthenticationType.TOKEN,
            False,
        )
        assert profile["bearerToken"].startswith("dwt_")
        assert shown.activated
        assert shown.tokens[0].activation_url is None

    def test_come_from_their_networks(self, client) -> None:
        networks = sharing.IpAccessList(allowed_ip_addresses=["192.0.2.0/24"])
        client.recipients.create("near", sharing.AuthenticationType.TOKEN)

        client.recipients.update("near", comment="next door", ip_access_list=networks)

        shown = client.recipients.get("near")
        assert (shown.comment, shown.ip_access_list) == ("next door", networks)

    @pytest.mark.parametrize("keep_s", [0, 3600])
    def test_get_another_token_in_place_of_the_old(self, client, server, keep_s):
        name = f"rotated{keep_s}"
        made = client.recipients.create(name, sharing.AuthenticationType.TOKEN)
        nonce = made.activation_url.rpartition("/")[2]
        old = requests.post(f"{server.url}/activate/{nonce}", timeout=60).json()

        rotated = client.recipients.rotate_token(name, keep_s)

        assert rotated.activation_url
        assert rotated.activation_url == rotated.tokens[0].activation_url
        answer = requests.get(
            f"{old['endpoint']}shares",
            headers={"Authorization": f"Bearer {old['bearerToken']}"},
            timeout=60,
        )
        assert answer.status_code == (200 if keep_s else 401)

    def test_are_listed_and_deleted(self, client) -> None:
        client.recipients.create("leaving", sharing.AuthenticationType.TOKEN)

        client.recipients.delete("leaving")

        names = [one.name for one in client.recipients.list(max_results=3)]
        assert names == sorted(map(str, names), key=str.casefold)
        assert "leaving" not in names


def test_permissions_are_given_shown_and_taken(client) -> None:
    client.shares.create("granted")
    client.recipients.create("reader", sharing.AuthenticationType.TOKEN)
    select = [sharing.Privilege.SELECT]
    give = sharing.PermissionsChange(principal="reader", add=["SELECT"])
    take = sharing.PermissionsChange(principal="reader", remove=["SELECT"])

    given = client.shares.update_permissions("granted", changes=[give])
    shown = client.shares.share_permissions("granted")
    (of_reader,) = client.recipients.share_permissions("reader").permissions_out or []
    taken = client.shares.update_permissions("granted", changes=[take])

    expected = [sharing.PrivilegeAssignment(principal="reader", privileges=select)]
    assert given.privilege_assignments == expected
    assert shown.privilege_assignments == expected
    assert of_reader.share_name == "granted"
    assert not taken.privilege_assignments


class TestWhoMayNot:
    def test_is_told_so(self, client, server: Installation) -> None:
        client.shares.create("guarded")
        reading = server.command("user", "key", "admin", "--scope", "read").strip()
        script = client_with(server, reading)

        assert script.shares.get("guarded").name == "guarded"
        with pytest.raises(errors.PermissionDenied, match="this needs 'share'"):
            script.shares.delete("guarded")

    def test_because_there_is_no_such_key_is_told_so(self, client, server) -> None:
        del client  # it has seen to the configuration
        with pytest.raises(errors.Unauthenticated):
            client_with(server, "dwk_none").shares.get("guarded")


def _missing() -> list[object]:
    kind = sharing.SharedDataObjectDataObjectType.TABLE
    gone = sharing.SharedDataObject(name="samples.nothing", data_object_type=kind)
    return [update("REMOVE", gone)]
