"""Storages are tried before they are kept; every verb uses them, or needs none."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError

from apps.tables.index.probing import probe_tables
from apps.tables.models import StorageConnection
from tests.storage.test_s3_tables import add_storage, run, run_json
from tests.support.pages.factories import NOW, new_table
from tests.support.pages.rest import V1, Script
from tests.support.stores.s3_server import S3Server

pytestmark = pytest.mark.django_db


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """This machine has none, as far as botocore can find."""
    from s3fs import S3FileSystem

    S3FileSystem.clear_instance_cache()  # one of another address may be kept
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "nothing"))


@pytest.mark.usefixtures("no_credentials")
def test_without_a_storage_a_closed_table_is_not_read(seaweed, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", seaweed.url)
    table = new_table("orders", location=f"s3://{seaweed.new_bucket()}/orders")

    probe_tables(now=NOW + timedelta(days=1))

    table.refresh_from_db()
    assert table.error_code == "credentials-needed"


@pytest.mark.usefixtures("no_credentials")
def test_without_a_storage_a_public_table_is_read(s3, lake, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3.url)
    bucket = s3.new_bucket()
    s3.upload(lake / "device_readings", bucket, "readings")
    s3.publish(bucket)

    found = run_json("table", "add", "public", f"s3://{bucket}/readings")["found"]

    assert found["num_files"] > 0


def test_a_storage_is_tried_and_kept_by_rest(seaweed: S3Server) -> None:
    options = dict(text.split("=", 1) for text in seaweed.option_texts)
    prefix = f"s3://{seaweed.new_bucket()}"
    script, storages = Script("admin"), f"{V1}/storages"

    wrong = script.call(
        "POST",
        storages,
        {"name": "lake", "prefix": prefix, "options": options | {"secret": "x"}},
    )
    added = script.made(
        storages, {"name": "lake", "prefix": prefix, "options": options}
    )
    tried = script.made(f"{storages}/lake/try", {"write": True})

    assert wrong.json()["error"] == "storage-secret-wrong"
    assert added["tried"] == {"was_read": None, "was_written": None}
    assert tried["tried"]["was_written"] is True


def test_a_storage_is_tried_before_it_is_kept(seaweed: S3Server) -> None:
    bucket = seaweed.new_bucket()
    wrong = [text.replace("deltaweb-secret", "x") for text in seaweed.option_texts]

    for texts, words in (
        (wrong, "the secret is not that of the access key"),
        (["ky=k", *seaweed.option_texts], "s3fs has no option ky; did you mean key"),
        (["client_kwargs.endpont_url=x"], "did you mean client_kwargs.endpoint_url"),
        (["endpoint_url=http://10.0.0.1"], "10.0.0.1 is not allowed as the host"),
    ):
        with pytest.raises(CommandError, match=words):
            add_storage("lake", f"s3://{bucket}/", *texts)
    with pytest.raises(CommandError, match="names a bucket that the store does not"):
        add_storage("lake", "s3://no-such-bucket/", *seaweed.option_texts)
    assert not StorageConnection.objects.exists()

    assert "It was not tested." in add_storage("all", "s3://", *seaweed.option_texts)
    options = [part for text in seaweed.option_texts for part in ("--option", text)]
    said = run("storage", "add", "l", "--prefix", f"s3://{bucket}", *options, "--write")
    assert "It can be listed and written." in said
    kept = [part for text in wrong for part in ("--option", text)]
    add = (
        "storage",
        "add",
        "l",
        "--replace",
        "--untried",
        "--prefix",
        f"s3://{bucket}",
    )
    assert "It was not tested." in run(*add, *kept)


def test_every_verb_that_takes_a_location_uses_the_storage(s3: S3Server) -> None:
    bucket = s3.new_bucket()
    add_storage("lake", f"s3://{bucket}/", *s3.option_texts)
    made = f"s3://{bucket}/made/visits"

    run("table", "create", "visits", made, "--schema", "id BIGINT")
    assert run_json("table", "history", made)[0]["version"] == 0
    scanned = run_json("table", "scan", f"s3://{bucket}", "--dry-run")

    assert (scanned["found"], scanned["known"]) == (1, ["visits"])
