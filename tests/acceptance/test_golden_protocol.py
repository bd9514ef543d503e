"""Recorded tables through the sharing protocol: served as it is, or refused."""

import hashlib
import io
import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.parquet as pq
import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.sharing.models import Recipient
from deltaweb.delta.snapshot import Snapshot
from deltaweb.sharing.capabilities import HEADER
from deltaweb.sharing.compatibility import misreadings
from deltaweb.sharing.response_format import IN_DELTA
from tests.support.golden.golden_refusals import (
    has_vectors,
    is_of_unread_features,
    snapshot_or_refusal,
)
from tests.support.golden.golden_tables import (
    expected_of,
    golden_folder,
    golden_table,
    some_golden_tables,
)
from tests.support.pages.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
)

TABLE = "/delta-sharing/shares/golden/schemas/golden/tables/golden"
Answer = Any  # of Django's test client


def body_of(answer: Answer) -> bytes:
    if answer.streaming:
        return b"".join(answer.streaming_content)
    return bytes(answer.content)


@pytest.fixture
def caller(db: None, tmp_path: Path, settings: Settings) -> Client:  # noqa: ARG001 (a database)
    """A client that a recipient's token lets in."""
    settings.HOME = tmp_path
    tomorrow = timezone.now() + timedelta(days=1)
    _, secret = new_token(new_recipient(), expires_at=tomorrow)
    return Client(headers={"Authorization": f"Bearer {secret}"})


def share(root: Path) -> None:
    """Put a recorded table into a share of the one recipient."""
    table = new_table("golden.golden", location=str(root))
    shared = new_shared_table(new_share("golden"), "golden.golden", table=table)
    new_grant(shared.share, Recipient.objects.get())


@some_golden_tables
def test_is_served_as_it_is_or_refused(caller: Client, name: str) -> None:
    expected = expected_of(name)
    share(golden_folder(name))

    version: Answer = caller.get(f"{TABLE}/version")
    metadata: Answer = caller.get(f"{TABLE}/metadata")
    query: Answer = caller.post(f"{TABLE}/query", "{}", content_type="application/json")

    bodies = [body_of(answer) for answer in (version, metadata, query)]
    place = str(golden_folder(name)).encode()
    assert not any(place in body for body in bodies)
    for answer in (version, metadata, query):
        assert answer.status_code in {200, 400}
    if query.status_code != 200:
        assert set(json.loads(bodies[2])) == {"errorCode", "message"}
        found = snapshot_or_refusal(golden_table(name))
        if expected["expect"] != "ok" or is_of_unread_features(found):
            return
        # What the log reads is kept from clients that would misread it, and no others.
        assert isinstance(found, Snapshot)
        check_is_for_clients_of_delta(caller, found, json.loads(bodies[2])["message"])
        return
    assert version["Delta-Table-Version"] == query["Delta-Table-Version"]
    told = expected["versions"].get(query["Delta-Table-Version"])
    if told is not None and expected["expect"] != "disputed":
        check_files(caller, bodies[2].splitlines()[2:], told)


def check_is_for_clients_of_delta(caller: Client, found: Snapshot, refusal: str):
    """Ask for a table that is refused in the parquet format again, in the delta one."""
    misread = misreadings(
        found.protocol,
        found.metadata,
        found.schema,
        has_deletion_vectors=has_vectors(found),
    )
    assert misread
    assert all(one.reason in refusal for one in misread)
    used = {one.feature for one in misread}
    assert used <= IN_DELTA
    features = ",".join(sorted(used.union(found.protocol.reader_features or ())))

    answer: Answer = caller.post(
        f"{TABLE}/query",
        "{}",
        content_type="application/json",
        headers={HEADER: f"responseformat=delta;readerfeatures={features}"},
    )

    lines = [json.loads(line) for line in body_of(answer).splitlines()]
    assert answer.status_code == 200
    assert [{*line} for line in lines[:2]] == [{"protocol"}, {"metaData"}]
    assert "deltaProtocol" in lines[0]["protocol"]
    assert len(lines[2:]) == found.num_files
    assert all("deltaSingleAction" in line["file"] for line in lines[2:])


def check_files(caller: Client, lines: list[bytes], told: Mapping[str, Any]) -> None:
    """Read the files as a client of the parquet format does, and count their rows."""
    files = [json.loads(line)["file"] for line in lines]
    assert len(files) == told["num_files"]
    if "paths" in told:
        ids = {hashlib.md5(path.encode()).hexdigest() for path in told["paths"]}  # noqa: S324 (the protocol's)
        assert {file["id"] for file in files} == ids
    rows = [rows_of(caller, file["url"]) for file in files]
    if None not in rows and told.get("rows") is not None:
        assert sum(filter(None, rows)) == told["rows"]


def rows_of(caller: Client, url: str) -> int | None:
    """How many rows a file has; None for one that was recorded without its data."""
    parts = urlsplit(url)
    answer: Answer = caller.get(f"{parts.path}?{parts.query}")
    body = body_of(answer)
    if answer.status_code == 404:
        return None
    assert answer.status_code == 200
    return int(pq.ParquetFile(io.BytesIO(body)).metadata.num_rows)
