"""A bucket is added with its keys: they are tested first, each error at its field."""

from pathlib import Path

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.tables.catalogue.lakes.scan_job import SCAN_ROOT
from apps.tables.models import AllowedRoot, Lake, StorageConnection, Table
from deltaweb.management.first_start import RETRY_S, register_lake
from tests.support import cases
from tests.support.pages.factories import signed_in
from tests.support.pages.rest import V1, Script, refusal
from tests.support.processes.ports import free_port
from tests.support.stores.s3_server import ACCESS_KEY, SECRET_KEY, S3Server

pytestmark = pytest.mark.django_db
FORM = "/tables/lakes/connect"


@pytest.fixture
def admin(db: None) -> Client:  # noqa: ARG001 (users are rows)
    return signed_in("ada", role="ADMIN")


@pytest.fixture
def bucket(seaweed: S3Server, lake: Path) -> str:
    """A bucket with two tables."""
    name = seaweed.new_bucket()
    for table in ("orders", "events"):
        seaweed.upload(lake / "orders", name, f"raw/{table}")
    return name


@pytest.fixture
def sent(seaweed: S3Server, bucket: str) -> dict[str, str]:
    """What a person types who has the right keys."""
    return {
        "root": f"s3://{bucket}/raw",
        "schedule": "1h",
        "key": ACCESS_KEY,
        "secret": SECRET_KEY,
        "endpoint": seaweed.url,
        "region": "us-east-1",
    }


def test_keys_that_work_are_kept_and_the_lake_is_scanned(admin, sent, bucket) -> None:
    answer = admin.post(FORM, sent)

    lake, kept = Lake.objects.get(), StorageConnection.objects.get()
    assert answer["Location"] == lake.get_absolute_url()
    assert (kept.name, kept.prefix) == (bucket, f"s3://{bucket}/raw")
    assert SECRET_KEY not in kept.sealed
    SCAN_ROOT.work(Job.objects.get(kind=SCAN_ROOT.name).id)
    assert sorted(Table.objects.values_list("name", flat=True)) == ["events", "orders"]
    page = admin.get(lake.get_absolute_url()).content.decode()
    assert f"the storage {bucket}" in page
    assert SECRET_KEY not in page
    assert SECRET_KEY not in str([*AuditEvent.objects.values_list("detail", flat=True)])


@cases(
    "wrong, field, said",
    {
        "another secret": ({"secret": "x"}, "secret", "Copy the secret again"),
        "an unknown key": ({"key": "nobody"}, "key", "does not know the access key"),
        "no such bucket": (
            {"root": "s3://no-such-bucket/raw"},
            "root",
            "a bucket that the store does not have",
        ),
        "nothing there": (
            {"endpoint": f"http://127.0.0.1:{free_port()}"},
            "endpoint",
            "nothing answers at its address",
        ),
        "a host inside": (
            {"endpoint": "http://10.0.0.1:9000"},
            "endpoint",
            "DELTAWEB_STORAGE_HOSTS",
        ),
        "no scheme": ({"endpoint": "127.0.0.1:9000"}, "endpoint", "such as https://"),
    },
)
def test_an_error_is_at_its_field_and_nothing_is_kept(admin, sent, wrong, field, said):
    answer = admin.post(FORM, sent | wrong)

    assert answer.status_code == 422
    assert [*answer.context["form"].errors] == [field]
    assert said in answer.context["form"].errors[field][0]
    for kind in (Lake, StorageConnection, Job, AuditEvent, AllowedRoot):
        assert not kind.objects.exists()


def test_keys_are_sent_by_rest_as_well(sent, bucket) -> None:
    script = Script("read", "admin")
    body = {"url": sent["root"], "key": ACCESS_KEY, "endpoint": sent["endpoint"]}

    wrong = script.call("POST", f"{V1}/lakes", body | {"secret": "x"})
    right = script.call("POST", f"{V1}/lakes", body | {"secret": SECRET_KEY})

    assert refusal(wrong) == (422, "storage-secret-wrong")
    assert right.status_code == 202
    assert right.json()["job"]["parameters"] == {"root": f"s3://{bucket}/raw"}
    assert SECRET_KEY not in right.content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_bucket_that_a_start_names_waits_for_its_store(sent, monkeypatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    said: list[str] = []

    def pause(seconds: float) -> None:
        assert seconds == RETRY_S
        assert not Lake.objects.exists()
        monkeypatch.setenv("AWS_ENDPOINT_URL", sent["endpoint"])
        from s3fs import S3FileSystem

        S3FileSystem.clear_instance_cache()  # it keeps the client of the first address

    register_lake(sent["root"], said.append, pause=pause)

    refused, found = said
    assert "cannot be reached" in refused
    assert found == f"{sent['root']}: 2 tables found, 2 of them new"
