"""The page of received shares: a profile is tried, sealed, and shown by its end."""

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.tables.models import Lake, StorageConnection, Table
from tests.functional.command_line import Ran
from tests.functional.sharing_pages.pages import as_json, page
from tests.support import cases
from tests.support.pages.factories import new_table
from tests.support.stores.sharing_provider import Provider, provider_running

pytestmark = pytest.mark.django_db


@pytest.fixture
def provider(settings, tmp_path: Path):
    settings.HOME = tmp_path
    with provider_running() as running:
        running.lists("shipments.eu.parcels", "rates.public.tariffs")
        yield running


def post(admin: Client, provider: Provider, **fields: object):
    values = {"name": "acme", "text": provider.profile_text, **fields}
    return admin.post("/received/add", values)


@pytest.mark.parametrize("form", ["file", "text"])
def test_a_profile_is_a_file_or_its_text(admin: Client, provider, form: str) -> None:
    text = provider.profile_text
    file = {"text": "", "file": SimpleUploadedFile("acme.share", text.encode())}

    answer = post(admin, provider, **(file if form == "file" else {}))

    assert answer.status_code == 302
    kept = StorageConnection.objects.get(prefix="received://acme")
    assert "secret-token" not in kept.sealed
    assert Lake.objects.get(url="received://acme").namespace == "acme"


def test_a_profile_shows_where_it_leads_and_the_end_of_its_token(admin, provider):
    post(admin, provider)

    shown = page(admin, "/received/")
    (one,) = as_json(admin, "/received.json")["received"]

    assert provider.endpoint in shown
    assert "…oken" in shown
    assert "secret-token" not in shown
    assert one["token_end"] == "oken"
    assert one["endpoint"] == provider.endpoint


def test_a_token_that_is_refused_is_not_kept_and_not_shown_again(admin, provider):
    provider.puts("/shares", {"message": "no"}, 401)

    answer = post(admin, provider)

    assert answer.status_code == 422
    shown = answer.content.decode()
    assert "acme refuses the token (HTTP 401)" in shown
    assert "secret-token" not in shown
    assert not StorageConnection.objects.exists()


@cases(
    "fields, said",
    {
        "no name": ({"name": ""}, "Enter a name for the provider"),
        "a name that is a path": ({"name": "a/b"}, "it contains"),
        "nothing": ({"text": ""}, "Choose the .share file"),
        "no profile": ({"text": "{}"}, "shareCredentialsVersion"),
        "deep JSON": ({"text": "[" * 60_000}, "not JSON"),
    },
)
def test_what_cannot_be_added_is_said(admin, provider, fields, said: str) -> None:
    answer = post(admin, provider, **fields)

    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert provider.asked == []


def test_hosts_of_the_servers_own_network_are_not_asked(admin, provider, settings):
    settings.STORAGE_HOSTS = []

    answer = post(admin, provider)

    assert answer.status_code == 422
    assert "on this machine or in a private network" in answer.content.decode()
    assert provider.asked == []


def test_names_of_a_provider_are_text_and_nothing_else(admin, provider) -> None:
    provider.puts("/shares", {"items": [{"name": "<script>alert(1)</script>"[:8]}]})
    provider.puts(
        "/shares/%3Cscript%3E/all-tables",
        {"items": [{"name": "<img src=x>", "schema": '"><b>'}]},
    )
    post(admin, provider)
    Ran("received", "refresh", "acme")

    shown = page(admin, "/received/")

    assert "<img" not in shown
    assert "&lt;img src=x&gt;" in shown
    assert "<b>" not in shown
    (table,) = Table.objects.filter(location__startswith="received://")
    assert "<" not in table.full_name


def test_a_provider_is_asked_again_and_forgotten(admin, provider) -> None:
    post(admin, provider)
    Ran("received", "refresh", "acme")
    provider.lists("shipments.eu.parcels")
    Ran("received", "refresh", "acme")

    looked = admin.post("/received/acme/look")
    (one,) = as_json(admin, "/received.json")["received"]
    admin.post("/received/acme/remove")

    assert looked.status_code == 302
    assert one["num_tables"] == 1
    assert one["num_withdrawn"] == 1
    assert as_json(admin, "/received.json")["received"] == []
    assert admin.post("/received/acme/look").status_code == 404


def test_the_lake_of_a_provider_is_removed_with_the_provider_alone(
    admin, editor: Client, provider
) -> None:
    post(admin, provider)
    lake = Lake.objects.get()

    refused = editor.post(f"{lake.get_absolute_url()}/remove", follow=True)

    assert Lake.objects.exists()
    assert "the provider acme shares" in refused.content.decode()
    assert "Remove this lake" not in page(editor, lake.get_absolute_url())
    assert admin.post("/received/acme/remove").status_code == 302
    assert not Lake.objects.exists()


def test_a_provider_without_its_lake_comes_back_with_a_new_profile(admin, provider):
    post(admin, provider)
    Lake.objects.all().delete()

    without = admin.post("/received/acme/remove", follow=True)
    post(admin, provider, replace="true")

    assert "No provider is named" in without.content.decode()
    assert as_json(admin, "/received.json")["received"][0]["name"] == "acme"


def test_a_profile_of_another_replaces_the_token(admin, provider: Provider) -> None:
    post(admin, provider)
    fields = json.loads(provider.profile_text) | {"bearerToken": "another-one"}
    Lake.objects.update(scan_interval_s=86_400)

    refused = post(admin, provider, text=json.dumps(fields))
    taken = post(admin, provider, text=json.dumps(fields), replace="true")

    assert refused.status_code == 422
    assert taken.status_code == 302
    (one,) = as_json(admin, "/received.json")["received"]
    assert one["token_end"] == "-one"
    assert Lake.objects.get().scan_interval_s == 86_400


@pytest.mark.parametrize("tab", ["maintenance", "optimize", "delete-rows", "sharing"])
def test_what_only_an_owner_can_do_is_refused_by_name(admin: Client, tab: str) -> None:
    new_table("acme.parcels", location="received://acme/eu/parcels")

    answer = admin.get(f"/t/acme/parcels/{tab}")
    machine = admin.get(f"/t/acme/parcels/{tab}.json")

    assert answer.status_code == machine.status_code == 403
    assert "is shared by acme" in answer.content.decode()
    assert machine.json()["error"] == "table-received"


@pytest.mark.parametrize(
    ("operation", "asked"),
    [
        ("import_rows", {"file": {"path": "/a.csv"}}),
        ("merge_rows", {"on": "t.id = s.id", "update_all": True}),
        ("delete_rows", {}),
    ],
)
def test_a_script_changes_no_table_of_a_provider(admin, operation, asked) -> None:
    new_table("acme.parcels", location="received://acme/eu/parcels")

    path = f"/api/v1/tables/acme/parcels/operations/{operation}"
    answer = admin.post(path, {"parameters": asked}, content_type="application/json")

    assert (answer.status_code, answer.json()["error"]) == (403, "table-received")


def test_an_oauth_profile_shows_its_client_and_nothing_of_its_secret(
    admin, provider: Provider, caplog, tmp_path: Path
) -> None:
    provider.puts("/token", {"access_token": "access-1", "token_type": "Bearer"})
    text = provider.oauth_profile(client_id="client-7", secret="s3cr3t-word")
    file = tmp_path / "oauth.share"
    file.write_text(text)

    answer = post(admin, provider, text=text)
    replaced = Ran("received", "add", "acme", str(file), "--replace")
    listed = Ran("received", "list")

    assert answer.status_code == 302
    (one,) = as_json(admin, "/received.json")["received"]
    assert (one["client_id"], one["token_end"], one["state"]) == (
        *("client-7", ""),
        "answers",
    )
    assert one["num_tables"] == 2
    shown = page(admin, "/received/")
    kept = StorageConnection.objects.get(name="acme")
    assert "client-7" in shown
    assert "client client-7" in listed.stdout
    texts = (shown, listed.stdout, replaced.stdout, caplog.text, kept.sealed, str(one))
    assert not [text for text in texts if "s3cr3t" in text or "access-1" in text]


def test_a_secret_that_is_refused_is_not_kept_and_not_shown(admin, provider, caplog):
    provider.puts("/token", {"error": "invalid_client s3cr3t-word"}, 401)
    text = provider.oauth_profile(client_id="client-7", secret="s3cr3t-word")

    answer = post(admin, provider, text=text)

    assert answer.status_code == 422
    shown = answer.content.decode()
    assert "acme refuses the OAuth client (HTTP 401)" in shown
    assert "s3cr3t" not in shown + caplog.text
    assert not StorageConnection.objects.exists()


@pytest.mark.parametrize("kind", ["basic", "oauth_jwt_bearer_private_key_jwt"])
def test_a_profile_of_another_type_says_what_is_supported(admin, provider, kind: str):
    text = provider.oauth_profile(client_id="a", secret="s3cr3t-word")

    answer = post(admin, provider, text=text.replace("oauth_client_credentials", kind))

    shown = answer.content.decode()
    assert answer.status_code == 422
    assert "bearer_token and oauth_client_credentials" in shown
    assert "s3cr3t" not in shown
