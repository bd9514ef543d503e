"""The fields of the form that adds a bucket become options, or say what is wrong."""

from typing import Any

import pytest
from django.test import Client

from apps.pages.actions import command_stamp
from apps.pages.changes.forms import form_of, place_error
from apps.tables.catalogue.lakes.keys import NewLakeWithKeys, free_name, options_of
from apps.tables.models import Lake, StorageConnection
from apps.tables.storage.connections import add_connection
from apps.tables.storage.errors import (
    StorageFieldError,
    StorageHostError,
    StorageKeyDeniedError,
)
from deltaweb import errors
from tests.support import cases
from tests.support.pages.browser_forms import forms_of
from tests.support.pages.factories import signed_in
from tests.support.pages.rest import V1, Script

BUCKET = "s3://lake/raw"
AZURE = "az://lake/raw"


@pytest.fixture
def admin(db: None) -> Client:  # noqa: ARG001 (users are rows)
    return signed_in("ada", role="ADMIN")


def options(where: str, **fields: Any) -> dict[str, str]:  # noqa: ANN401 (as typed)
    return options_of(where, NewLakeWithKeys(url=where, **fields))


class TestOptionsOf:
    def test_are_those_of_s3(self) -> None:
        found = options(
            BUCKET,
            key=" AK ",
            secret="SK",
            endpoint="https://minio.example:9000",
            region="eu-central-1",
        )

        assert found == {
            "key": "AK",
            "secret": "SK",
            "client_kwargs.endpoint_url": "https://minio.example:9000",
            "client_kwargs.region_name": "eu-central-1",
        }

    def test_have_only_what_was_filled_in(self) -> None:
        assert options(BUCKET, region="eu-central-1") == {
            "client_kwargs.region_name": "eu-central-1"
        }

    def test_are_those_of_azure(self) -> None:
        assert options(AZURE, key="acct", secret="K==") == {
            "account_name": "acct",
            "account_key": "K==",
        }
        there = options(AZURE, key="acct", secret="K==", endpoint="http://a.example/x")
        assert there == {
            "connection_string": (
                "AccountName=acct;AccountKey=K==;BlobEndpoint=http://a.example/x"
            )
        }

    @cases(
        "where, fields, field",
        {
            "a key without its secret": (BUCKET, {"key": "AK"}, "secret"),
            "a secret without its key": (BUCKET, {"secret": "SK"}, "key"),
            "no scheme": (BUCKET, {"endpoint": "minio:9000"}, "endpoint"),
            "a user in it": (BUCKET, {"endpoint": "http://a:b@c"}, "endpoint"),
            "a folder": ("/data/lake", {"region": "eu-central-1"}, "key"),
            "Google": ("gs://lake", {"key": "AK", "secret": "SK"}, "key"),
            "Azure in a region": (AZURE, {"region": "europe"}, "region"),
            "an endpoint without an account": (AZURE, {"endpoint": "http://a"}, "key"),
            "more options": (
                AZURE,
                {"key": "a", "secret": "b;c", "endpoint": "http://a"},
                "key",
            ),
        },
    )
    def test_name_the_field_that_is_wrong(self, where, fields, field) -> None:
        with pytest.raises(StorageFieldError) as raised:
            options(where, **fields)

        assert raised.value.kind == field
        assert str(raised.value).endswith("Nothing was stored.")


@cases(
    "error, field",
    {
        "no such bucket": (errors.BucketNotFoundError(location=BUCKET), "root"),
        "not a URL": (errors.LocationInvalidError(location="x", reason="y"), "root"),
        "outside the roots": (
            errors.LocationNotAllowedError(location=BUCKET, allowed=[]),
            "root",
        ),
        "no keys": (errors.CredentialsNeededError(location=BUCKET), "key"),
        "an unknown key": (errors.KeyUnknownError(location=BUCKET), "key"),
        "a key without the right": (StorageKeyDeniedError(location=BUCKET), "key"),
        "a wrong secret": (errors.SecretWrongError(location=BUCKET), "secret"),
        "old credentials": (errors.CredentialsExpiredError(location=BUCKET), "secret"),
        "silence": (
            errors.LocationUnreachableError(location=BUCKET, reason="x"),
            "endpoint",
        ),
        "a host inside": (StorageHostError(host="x", reason="y"), "endpoint"),
        "a clock that is wrong": (errors.ClockSkewedError(location=BUCKET), "endpoint"),
        "another region": (
            errors.RegionWrongError(location=BUCKET, region="eu-west-1"),
            "region",
        ),
        "anything else": (errors.LogCorruptError(path="a", reason="b"), "__all__"),
    },
)
def test_each_error_has_a_field_and_a_remedy(error, field) -> None:
    form = form_of(NewLakeWithKeys)({"root": BUCKET})
    assert form.is_valid()

    place_error(form, NewLakeWithKeys, error)

    assert [*form.errors] == [field]
    assert error.hint


@pytest.mark.django_db
@cases(
    "where, name",
    {
        "the bucket": ("s3://lake/raw", "lake"),
        "one that is taken": ("s3://sales", "sales-2"),
        "a container": ("abfss://raw@acct.dfs.core.windows.net/x", "raw"),
        "signs that no name has": ("s3://a b+c", "a-b-c"),
    },
)
def test_a_storage_is_called_after_its_bucket(where: str, name: str) -> None:
    add_connection(
        name="sales", prefix="s3://sales/old", options={}, stamp=command_stamp()
    )

    assert free_name(where) == name


@pytest.mark.django_db
class TestTheForm:
    def test_has_fields_for_keys_for_administrators(self, admin: Client, editor):
        (form,) = self.forms(admin)
        assert form.action == "/tables/lakes/connect"
        assert {"key", "secret", "endpoint", "region"} <= form.sent().keys()
        assert form.named("secret").kind == "password"

        (form,) = self.forms(editor)
        assert form.action == "/tables/scan"
        assert "secret" not in form.sent()

    def test_shows_an_error_at_its_field_and_never_the_secret(self, admin: Client):
        sent = {"root": BUCKET, "endpoint": "minio", "key": "AK", "secret": "S3CR3T"}

        answer = admin.post("/tables/lakes/connect", sent)

        assert answer.status_code == 422
        assert [*answer.context["form"].errors] == ["endpoint"]
        page = answer.content.decode()
        assert "such as https://minio.example:9000" in page
        assert 'value="AK"' in page
        assert "S3CR3T" not in page
        assert not Lake.objects.exists()
        assert not StorageConnection.objects.exists()

    def test_is_not_for_editors(self, editor: Client) -> None:
        answer = editor.post("/tables/lakes/connect", {"root": BUCKET})

        assert answer.status_code == 403

    def test_says_which_storage_reaches_the_url_already(self, admin: Client) -> None:
        add_connection(name="raw", prefix=BUCKET, options={}, stamp=command_stamp())

        answer = admin.post(
            "/tables/lakes/connect", {"root": BUCKET, "key": "AK", "secret": "SK"}
        )

        (said,) = answer.context["form"].errors["root"]
        assert said.startswith(f"{BUCKET} belongs to the storage raw already.")

    @staticmethod
    def forms(client: Client):
        page = client.get("/tables/new/scan").content.decode()
        return [one for one in forms_of(page) if "root" in one.sent()]


@pytest.mark.django_db
@pytest.mark.parametrize("scopes", [["read", "write"], ["read", "share"]])
def test_a_key_for_less_than_administration_cannot_send_keys(scopes) -> None:
    answer = Script(*scopes, name="bob").call("POST", f"{V1}/lakes", {"url": BUCKET})

    assert answer.status_code == 403


def test_is_never_printed() -> None:
    assert "S3CR3T" not in repr(NewLakeWithKeys(url=BUCKET, secret="S3CR3T"))
