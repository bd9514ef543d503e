"""Folders of tables read by temporary credentials, on a store that holds them to it.

SeaweedFS enforces session policies; moto, whose answers are otherwise alike, does not.
"""

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import boto3
import pyarrow as pa
import pytest
from botocore.exceptions import ClientError
from deltalake import DeltaTable as PeerTable
from deltalake import write_deltalake
from django.utils import timezone
from pytest_django import Settings

from apps.audit.models import AuditEvent
from apps.pages.actions import command_stamp
from apps.sharing.access.errors import DirectoryRefusedError
from apps.sharing.recipients.rehearsals import rehearsal
from apps.sharing.recipients.rehearsals.client_program import CLIENTS, DIRECTORY
from apps.sharing.shares.terms import Terms, add_table
from apps.tables.storage.connections import add_connection
from deltaweb.storage.objects.vending.errors import VendingRefusedError
from deltaweb.storage.objects.vending.vendors import open_vendor
from tests.functional.sharing_api.calls import Answer, Caller, error, items, lines
from tests.support import cases
from tests.support.pages.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_table,
    new_token,
)
from tests.support.peers.duckdb_runner import SidecarDuckDB
from tests.support.stores.s3_server import S3Server
from tests.support.stores.seaweed_server import ROLE_ARN

pytestmark = pytest.mark.django_db
ROWS = pa.table({"id": pa.array(range(10), pa.int64())})
TABLE = "/shares/sales/schemas/crm/tables/orders"
CREDENTIALS = f"{TABLE}/temporary-table-credentials"


@pytest.fixture(scope="module")
def store(seaweed: S3Server) -> S3Server:
    return seaweed


@pytest.fixture(scope="module")
def bucket(store: S3Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table below `lake/orders`, and another whose name begins alike."""
    name = store.new_bucket()
    for table in ("orders", "orders2"):
        folder = tmp_path_factory.mktemp(table)
        write_deltalake(folder, ROWS)
        write_deltalake(folder, ROWS, mode="append")
        store.upload(folder, name, f"lake/{table}")
    return name


@pytest.fixture
def root(store: S3Server, bucket: str, settings: Settings) -> str:
    """The table, with a storage connection that may assume a role."""
    settings.STORAGE_HOSTS = ["127.0.0.1"]
    texts = dict(text.split("=", 1) for text in store.option_texts)
    add_connection(
        name="lake",
        prefix=f"s3://{bucket}/",
        options=texts | {"vend_role_arn": ROLE_ARN},
        stamp=command_stamp(),
    )
    return f"s3://{bucket}/lake/orders"


@pytest.fixture
def shared_facts(root: str) -> dict[str, Any]:
    """What the table is put into a share with."""
    table = new_table("crm.orders", location=root)
    facts = {
        "table": table,
        "schema": "crm",
        "name": "orders",
        "stamp": command_stamp(),
    }
    return facts | {"terms": Terms(with_directory=True)}


@pytest.fixture
def globex(shared_facts: dict[str, Any]) -> Caller:
    """A recipient of the table, as files and as a folder."""
    share, recipient = new_share("sales"), new_recipient("globex")
    add_table(share, **shared_facts)
    new_grant(share, recipient)
    tomorrow = timezone.now() + timedelta(days=1)
    return Caller(*new_token(recipient, expires_at=tomorrow))


@pytest.fixture
def given(globex: Caller) -> dict[str, Any]:
    """The credentials that it is given."""
    answer = globex.ask("POST", CREDENTIALS, b"{}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = json.loads(answer.content)["credentials"]
    return found


def client(store: S3Server, given: dict[str, Any]) -> Any:  # noqa: ANN401 (boto3 has no types)
    keys = given["awsTempCredentials"]
    return boto3.client(
        "s3",
        aws_access_key_id=keys["accessKeyId"],
        aws_secret_access_key=keys["secretAccessKey"],
        aws_session_token=keys["sessionToken"],
        endpoint_url=store.url,
        region_name="us-east-1",
    )


class TestCredentials:
    def test_read_the_table_with_a_client_that_knows_its_log(self, store, root, given):
        keys = given["awsTempCredentials"]
        options = {
            "aws_access_key_id": keys["accessKeyId"],
            "aws_secret_access_key": keys["secretAccessKey"],
            "aws_session_token": keys["sessionToken"],
            "aws_endpoint": store.url,
            "aws_region": "us-east-1",
            "aws_allow_http": "true",
        }

        table = PeerTable(given["location"], storage_options=options)

        assert given["location"] == root
        assert table.version() == 1
        assert table.to_pyarrow_table().num_rows == 20

    @pytest.mark.exhaustive  # each of its requests is tried by itself in every run
    def test_read_the_table_and_no_neighbour_with_duckdb(
        self, store, root, given, tmp_path
    ):
        keys, place = given["awsTempCredentials"], urlsplit(store.url)
        secret = {
            "KEY_ID": keys["accessKeyId"],
            "SECRET": keys["secretAccessKey"],
            "SESSION_TOKEN": keys["sessionToken"],
            "ENDPOINT": place.netloc,
            "URL_STYLE": "path",
            "REGION": "us-east-1",
        }
        facts = ", ".join(f"{name} {value!r}" for name, value in secret.items())
        first = [
            *("LOAD httpfs", "LOAD delta"),
            f"CREATE SECRET (TYPE s3, USE_SSL false, {facts})",
        ]
        with closing(SidecarDuckDB(tmp_path)) as duckdb:

            def told(*statements: str) -> dict[str, Any]:
                run = [f"duckdb.sql({text!r})" for text in statements]
                code = "\n".join(["import duckdb", *run[:-1], f"found = {run[-1]}"])
                return duckdb.run(code, "found")

            own = told(*first, f"FROM delta_scan({root!r})")
            beside = told(f"FROM delta_scan('{root}2')")

        assert own.get("num_rows") == 20, own
        assert "403" in beside["error"], beside

    def test_end_within_the_hour(self, given: dict[str, Any]) -> None:
        ends_at = datetime.fromtimestamp(given["expirationTime"] / 1000, tz=UTC)

        left = ends_at - timezone.now()
        assert timedelta(minutes=14) < left <= timedelta(hours=1, seconds=5)

    def test_list_and_get_what_is_in_the_folder(self, store, bucket, given):
        s3 = client(store, given)

        found = s3.list_objects_v2(Bucket=bucket, Prefix="lake/orders/_delta_log/")
        keys = [entry["Key"] for entry in found["Contents"]]
        assert len(keys) == 2
        assert s3.get_object(Bucket=bucket, Key=keys[0])["Body"].read()

    @cases(
        "method, arguments",
        {
            "a folder that begins alike": (
                "get_object",
                {"Key": "lake/orders2/_delta_log/{0:020}.json"},
            ),
            "its list": ("list_objects_v2", {"Prefix": "lake/orders2/"}),
            "the list above": ("list_objects_v2", {"Prefix": "lake/"}),
            "a list of all": ("list_objects_v2", {}),
            "a PUT": ("put_object", {"Key": "lake/orders/new", "Body": b""}),
            "a DELETE": (
                "delete_object",
                {"Key": "lake/orders/_delta_log/{0:020}.json"},
            ),
        },
    )
    def test_do_nothing_else(self, store, bucket, given, method, arguments):
        named = {
            name: v.format(0) if isinstance(v, str) else v
            for name, v in arguments.items()
        }

        with pytest.raises(ClientError) as caught:
            getattr(client(store, given), method)(Bucket=bucket, **named)

        assert caught.value.response["Error"]["Code"] == "AccessDenied"

    def test_leave_a_record_without_them(self, given):
        event = AuditEvent.objects.filter(action="table.credentials").get()

        assert (event.recipient, event.status) == ("globex", 200)
        said = str(AuditEvent.objects.values())
        assert not [v for v in given["awsTempCredentials"].values() if v in said]


class TestTable:
    def test_says_how_it_is_read(self, globex: Caller, root: str) -> None:
        (item,) = items(globex.get("/shares/sales/all-tables"))
        _, metadata = lines(globex.get(f"{TABLE}/metadata"))

        for found in (item, metadata["metaData"]):
            assert found["accessModes"] == ["url", "dir"]
            assert found["location"] == root

    @cases(
        "narrower",
        {
            "without history": {"with_history": False},
            "from a version on": {"start_version": 1},
            "of some rows": {"condition": "id > 1"},
            "of some columns": {"columns": ["id"]},
        },
    )
    def test_that_is_shared_in_part_is_no_folder(self, globex, shared_facts, narrower):
        shared = globex.recipient.shares.get().shared_tables
        shared.update(**narrower)

        answer = globex.ask("POST", CREDENTIALS, b"{}")

        assert answer.status_code == 400
        assert error(answer)["errorCode"] == "UNSUPPORTED_OPERATION"
        assert "dir" not in str(items(globex.get("/shares/sales/all-tables")))
        if "with_history" in narrower or "start_version" in narrower:
            terms = Terms(with_directory=True, **narrower)
            facts = shared_facts | {"name": "again", "terms": terms}
            with pytest.raises(DirectoryRefusedError):
                add_table(new_share("other"), **facts)

    def test_that_allows_urls_alone_is_no_folder(self, globex: Caller) -> None:
        globex.recipient.shares.get().shared_tables.update(with_directory=False)

        assert globex.ask("POST", CREDENTIALS).status_code == 400
        (item,) = items(globex.get("/shares/sales/all-tables"))
        assert "accessModes" not in item

    def test_on_a_disk_is_no_folder(self, shared_facts, tmp_path):
        table = new_table("crm.local", location=str(tmp_path))

        with pytest.raises(
            DirectoryRefusedError, match="not on S3, R2, Azure or Google"
        ):
            add_table(new_share("other"), **shared_facts | {"table": table})


@pytest.mark.django_db(transaction=True)
def test_a_rehearsal_reads_a_folder_as_one(
    globex, live_server, settings, monkeypatch
) -> None:
    settings.PUBLIC_URL = live_server.url
    monkeypatch.setattr(rehearsal, "CLIENTS", {DIRECTORY: CLIENTS[DIRECTORY]})

    (one,) = rehearsal.rehearse(globex.recipient, stamp=command_stamp()).readings

    assert (one.error, one.client, one.num_rows) == (None, DIRECTORY, 20)
    globex.recipient.shares.get().shared_tables.update(with_directory=False)
    assert not rehearsal.rehearse(globex.recipient, stamp=command_stamp()).readings


class TestRequest:
    def ask(self, globex: Caller, body: bytes) -> Answer:
        return globex.ask("POST", CREDENTIALS, body)

    def test_may_name_the_location_or_nothing(self, globex: Caller, root: str) -> None:
        named = json.dumps({"location": f"{root}/"}).encode()

        assert self.ask(globex, named).status_code == 200
        assert self.ask(globex, b"").status_code == 200

    @pytest.mark.parametrize(
        "body",
        [
            b'{"location": "s3://elsewhere/lake/orders"}',
            b'{"location": "s3://bucket/lake/orders/../orders2"}',
            b'{"location": 7}',
            b"[]",
            b"{",
        ],
    )
    def test_for_anything_else_is_refused(self, globex: Caller, body: bytes) -> None:
        assert self.ask(globex, body).status_code == 400

    def test_of_a_token_that_ends_before_them_is_refused(self, globex: Caller) -> None:
        soon = timezone.now() + timedelta(minutes=10)
        globex.recipient.tokens.update(expires_at=soon)

        assert self.ask(globex, b"{}").status_code == 400

    def test_of_others_is_refused(self, globex: Caller) -> None:
        globex.recipient.grants.all().delete()

        assert self.ask(globex, b"{}").status_code == 404


def test_a_role_that_is_not_there_is_said_to_be_refused(store, bucket):
    options = store.options | {"vend_role_arn": "arn:aws:iam::000000000000:role/Nobody"}

    vendor = open_vendor(f"s3://{bucket}/lake/orders", options)

    with pytest.raises(VendingRefusedError, match="the store gives no temporary"):
        vendor.vend(lifetime_s=900, now=timezone.now())
