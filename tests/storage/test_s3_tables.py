"""Tables on S3 through a storage connection: registered, read, signed, fetched."""

import io
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import requests
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings
from yarl import URL

from apps.jobs.models import Job
from apps.jobs.results import result_path
from apps.tables.catalogue.checks import CHECK_LOCATION, request_check
from apps.tables.index.probing import look_at, probe_tables
from apps.tables.models import StorageConnection
from apps.tables.storage.connections import options_for
from apps.tables.work.preview import PREVIEW, Preview
from apps.tables.work.version_files import VERSION_FILES, VersionFiles
from deltaweb.delta.log.paths import commit_name
from deltaweb.storage.data_path import decode_path
from deltaweb.storage.place import open_store
from deltaweb.storage.signing import s3_session
from deltaweb.storage.signing.signer import open_signer
from deltaweb.table import DeltaTable
from tests.functional.command_line import Terminal
from tests.support.pages.factories import NOW, new_table, new_user
from tests.support.stores.s3_server import S3Server

pytestmark = pytest.mark.django_db
SECRETS = ("deltaweb-secret", "deltaweb-key")
PREFIX = "lake of sales/k=1"


@pytest.fixture(scope="module")
def bucket(s3: S3Server, lake: Path) -> str:
    """A bucket that holds the table `orders`, below a name that is to be quoted."""
    name = s3.new_bucket()
    s3.upload(lake / "orders", name, f"{PREFIX}/orders")
    return name


@pytest.fixture
def location(bucket: str) -> str:
    return f"s3://{bucket}/{PREFIX}/orders"


@pytest.fixture
def storage(s3: S3Server, bucket: str, settings: Settings, tmp_path: Path) -> str:
    settings.HOME = tmp_path / "home"
    return add_storage("lake", f"s3://{bucket}/", *s3.option_texts)


def add_storage(name: str, prefix: str, *texts: str) -> str:
    options = [part for text in texts for part in ("--option", text)]
    return run("storage", "add", name, "--prefix", prefix, *options)


def run(*arguments: str) -> str:
    """Return everything that the command writes."""
    out, err = io.StringIO(), io.StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return err.getvalue() + out.getvalue()


def run_json(*arguments: str) -> Any:  # noqa: ANN401 (any document)
    return json.loads(run(*arguments, "--json"))


def _result(job: Job) -> dict[str, Any]:
    result: dict[str, Any] | None = job.result
    assert result is not None
    return result


# === The command ===


def test_the_command_shows_names_alone(storage: str, bucket: str) -> None:
    shown = [storage, run("storage", "list"), run("storage", "list", "--json")]

    assert not any(secret in text for secret in SECRETS for text in shown)
    (listed,) = json.loads(shown[2])
    assert (
        listed.items()
        >= {
            "name": "lake",
            "prefix": f"s3://{bucket}",
            "options": [
                "client_kwargs.endpoint_url",
                "client_kwargs.region_name",
                "key",
                "secret",
            ],
        }.items()
    )
    assert f"lake  s3://{bucket}  client_kwargs.endpoint_url, " in shown[1]


def test_the_command_removes_after_asking(storage, location, monkeypatch):
    assert storage
    new_table("orders", location=location)
    monkeypatch.setattr("sys.stdin", Terminal("no\n"))

    with pytest.raises(CommandError, match="Nothing was changed"):
        run("storage", "remove", "lake")
    assert run_json("storage", "remove", "lake", "--yes")["removed"] is True
    assert not StorageConnection.objects.exists()
    assert "No storages yet" in run("storage", "list")


def test_the_command_warns_of_a_reference_that_is_missing_here(monkeypatch):
    monkeypatch.delenv("LAKE_KEY", raising=False)

    said = add_storage("lake", "s3://b/", "key=env:LAKE_KEY")

    assert "Warning: The storage lake takes its option key from" in said
    assert run_json("storage", "reseal")["storages"][0]["name"] == "lake"


def test_a_refused_option_is_not_shown() -> None:
    with pytest.raises(CommandError) as caught:
        add_storage("lake", "s3://b/", "hunter2")

    assert caught.value.returncode == 1
    assert "hunter2" not in str(caught.value)


# === Reading ===


@pytest.mark.usefixtures("storage")
class TestReading:
    def test_a_table_is_registered_and_read_by_the_command_line(self, location, lake):
        added = run_json("table", "add", "orders", location)
        local = DeltaTable(str(lake / "orders")).snapshot()

        assert added["found"]["version"] == local.version
        assert run_json("table", "show", "orders")["num_files"] == local.num_files
        shown = run_json("table", "show", location.replace("s3://", "s3a://"))
        assert shown["version"] == local.version
        rows = run_json("table", "rows", location, "--where", "order_id < 5")
        assert len(rows) == local.read(predicate="order_id < 5").num_rows
        assert len(run_json("table", "history", "orders", "--limit", "3")) == 3

    def test_a_check_finds_the_table(self, location: str, lake: Path) -> None:
        user = new_user("ada", role="ADMIN")
        job = request_check(location=location, now=NOW, requested_by=user)

        CHECK_LOCATION.work(job.id)

        job.refresh_from_db()
        assert job.state == Job.State.DONE
        newest = DeltaTable(str(lake / "orders")).latest_version()
        assert _result(job)["version"] == newest
        assert not any(secret in repr(vars(job)) for secret in SECRETS)

    def test_workers_probe_and_read_rows_and_files(self, location: str, lake: Path):
        newest = DeltaTable(str(lake / "orders")).latest_version()
        table = new_table("orders", location=location, version=newest - 1)

        assert look_at(table).version == newest
        probe_tables(now=NOW + timedelta(days=1))
        table.refresh_from_db()
        assert (table.latest_version_seen, table.error) == (newest, "")
        preview = PREVIEW.request(table, Preview(version=newest, limit=5), now=NOW)
        PREVIEW.work(preview.id)
        preview.refresh_from_db()
        assert _result(preview)["rows"] == 5
        files = VERSION_FILES.request(table, VersionFiles(newest), now=NOW)
        VERSION_FILES.work(files.id)
        files.refresh_from_db()
        path = result_path(files.id)
        with pa.memory_map(str(path)) as source:
            assert (
                pa.ipc.open_file(source).read_all().num_rows == _result(files)["rows"]
            )


def test_a_missing_variable_is_the_error_of_the_table(location, bucket, monkeypatch):
    monkeypatch.delenv("LAKE_KEY", raising=False)
    add_storage("lake", f"s3://{bucket}", "key=env:LAKE_KEY", "secret=hunter2")
    table = new_table("orders", location=location)

    probe_tables(now=NOW + timedelta(days=1))

    table.refresh_from_db()
    assert table.error_code == "storage-reference-missing"
    assert "the variable LAKE_KEY" in table.error
    assert "hunter2" not in table.error + table.error_hint


def test_credentials_of_the_environment_stay_out_of_the_most_talkative_log(
    location: str, s3: S3Server, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "DELTAWEB_HOME": str(tmp_path / "home"),
        "DELTAWEB_LOG_LEVEL": "DEBUG",
        "DJANGO_SETTINGS_MODULE": "deltaweb.settings",
        "AWS_ENDPOINT_URL": s3.url,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
        "AWS_SESSION_TOKEN": "hunter3",
    }

    shown = subprocess.run(
        [sys.executable, "-m", "deltaweb", "table", "show", location, "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(shown.stdout)["location"] == location
    assert "DEBUG" in shown.stderr
    for secret in ("hunter", "Authorization", "X-Amz-"):
        assert secret not in shown.stderr


# === Signing ===


@pytest.mark.usefixtures("storage")
class TestSigning:
    def test_a_signed_url_gives_the_file_whole_or_in_part(self, location, lake):
        snapshot = DeltaTable(location, options_for(location)).snapshot()
        paths = [decode_path(path) for path in snapshot.files["path"].to_pylist()]
        signer = open_signer(
            location, options_for(location), now=datetime.now(UTC), lifetime_s=60
        )

        urls = signer.sign(paths, snapshot.files["size"])

        rows = 0
        for path, url in zip(paths, urls, strict=True):
            data = (lake / "orders" / path).read_bytes()
            whole = requests.get(url, timeout=60)
            assert (whole.status_code, whole.content) == (200, data)
            part = requests.get(url, headers={"Range": "bytes=-8"}, timeout=60)
            assert (part.status_code, part.content) == (206, data[-8:])
            head = requests.head(url, timeout=60)
            assert head.headers["Content-Length"] == str(len(data))
            rows += pq.read_metadata(pa.BufferReader(whole.content)).num_rows
        assert rows == pc.sum(snapshot.statistics([])["num_records"]).as_py()

    def test_a_url_names_no_secret(self, location: str) -> None:
        signer = open_signer(
            location, options_for(location), now=datetime.now(UTC), lifetime_s=60
        )

        assert "deltaweb-secret" not in signer.sign(["a"], [1])[0]


@pytest.mark.parametrize("as_client", [str, lambda url: str(URL(url))])
def test_a_signed_url_names_its_key_however_it_is_spelled(s3, as_client):
    names = ["k=a b/p+q&r;t", "a%20b/%2F#?.parquet", "größe/日本", "~x*!'()@:$,[]"]
    bucket = s3.new_bucket()
    store = open_store(f"s3://{bucket}/t", s3.options)
    for name in names:
        store.put_data_file(quote(name), name.encode())
    signer = open_signer(
        f"s3://{bucket}/t", s3.options, now=datetime.now(UTC), lifetime_s=60
    )

    urls = signer.sign(pa.array(names), [1] * len(names))

    fetched = [requests.get(as_client(url), timeout=60).content for url in urls]
    assert fetched == [name.encode() for name in names]


def test_a_bucket_tells_its_region_where_nobody_configured_one(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "nothing"))
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setattr(s3_session, "REGION_TIMEOUT_S", 60)
    bucket = s3.new_bucket(region="eu-south-2")
    options = {"key": "k", "secret": "s", "endpoint_url": s3.url}

    signer = open_signer(
        f"s3://{bucket}/t", options, now=datetime.now(UTC), lifetime_s=60
    )

    assert "%2Feu-south-2%2Fs3%2Faws4_request" in signer.sign(["a"], [1])[0]


# === Writing ===


def test_of_two_commits_of_one_version_one_wins(location, s3, lake):
    store = DeltaTable(location, s3.options).store
    newest = DeltaTable(str(lake / "orders")).latest_version()

    with pytest.raises(FileExistsError):
        store.put_if_absent(commit_name(newest), b"{}")
    assert store.read(commit_name(newest)) != b"{}"
