"""A table of real files in a share, and recipients who call."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from apps.sharing.models import Recipient, RecipientToken, SharedTable
from deltaweb.delta.schema import PrimitiveType, StructField, StructType
from deltaweb.samples.sample_table import Operation, TableWriter
from tests.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
)

PREFIX = "/delta-sharing"
SCHEMA = StructType(
    (
        StructField("id", PrimitiveType("long")),
        StructField("day", PrimitiveType("date")),
    )
)
DAYS = ("2026-01-01", "2026-01-02", "2026-01-03")


def commit_time(version: int) -> datetime:
    """Versions of the table are made an hour apart."""
    return datetime(2026, 2, 1, version, tzinfo=UTC)


@dataclass
class Caller:
    """A client with a recipient's token."""

    token: RecipientToken
    secret: str
    client: Client = field(
        default_factory=lambda: Client(raise_request_exception=False)
    )

    @property
    def recipient(self) -> Recipient:
        """Who calls."""
        return self.token.recipient

    def get(self, path: str, **headers: str) -> HttpResponse:
        """GET a path below the endpoint."""
        return self.ask("GET", path, **headers)

    def head(self, path: str, **headers: str) -> HttpResponse:
        """HEAD a path below the endpoint."""
        return self.ask("HEAD", path, **headers)

    def ask(
        self, method: str, path: str, body: bytes = b"", **headers: str
    ) -> HttpResponse:
        """Send anything."""
        return self.client.generic(  # type: ignore[return-value]  # the stubs name a test's own kind
            method,
            f"{PREFIX}{path}",
            data=body,
            headers={"Authorization": f"Bearer {self.secret}"} | headers,
        )

    def query(self, path: str, body: object = None, **headers: str) -> HttpResponse:
        """POST a query about a table."""
        text = json.dumps({} if body is None else body).encode()
        return self.ask("POST", f"{path}/query", text, **headers)


@dataclass
class Lake:
    """A table of three versions: each adds a file of one day with ten rows."""

    root: Path
    writer: TableWriter
    shared: SharedTable
    paths: list[str] = field(default_factory=list)

    def append(self, day: str) -> None:
        """Make the next version."""
        at = commit_time(self.writer.version + 1)
        file = self.writer.write_file(
            pa.table({"id": pa.array(range(10), pa.int64())}),
            at=at,
            partition_values={"day": day},
        )
        self.writer.commit(Operation(name="WRITE", user="etl", at=at), [file.add()])
        self.paths.append(file.path)

    @property
    def path(self) -> str:
        """The table as recipients address it."""
        share = self.shared.share.name
        return f"/shares/{share}/schemas/{self.shared.schema}/tables/{self.shared.name}"


NewCaller = Callable[..., Caller]


@pytest.fixture(autouse=True)
def _rates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has buckets of its own."""
    monkeypatch.setattr(settings, "HOME", tmp_path)


def new_lake(root: Path, shared: SharedTable) -> Lake:
    """Write the table's files and versions 0 to 3."""
    writer = TableWriter(root, seed=4)
    writer.create(
        SCHEMA,
        Operation(name="CREATE TABLE", user="etl", at=commit_time(0)),
        partition_columns=["day"],
        description="Orders, day by day\u2028and line by line",
    )
    lake = Lake(root, writer, shared)
    for day in DAYS:
        lake.append(day)
    return lake


@pytest.fixture
def lake(db: None, tmp_path: Path) -> Lake:  # noqa: ARG001 (a database)
    """The table `crm.Orders` of the share `Sales`."""
    root = tmp_path / "lake" / "orders"
    table = new_table("crm.orders", location=str(root))
    share = new_share("Sales")
    shared = new_shared_table(share, "crm.Orders", table=table)
    return new_lake(root, shared)


@pytest.fixture
def new_caller(db: None) -> NewCaller:  # noqa: ARG001 (a database)
    """Recipients with a token and shares that they may read."""

    def make(name: str = "acme", *shares: Any, **fields: Any) -> Caller:  # noqa: ANN401
        recipient = new_recipient(name, **fields)
        for share in shares:
            new_grant(share, recipient)
        token, secret = new_token(
            recipient, expires_at=timezone.now() + timedelta(days=1)
        )
        return Caller(token, secret)

    return make


@pytest.fixture
def acme(lake: Lake, new_caller: NewCaller) -> Caller:
    """A recipient who may read the table."""
    return new_caller("acme", lake.shared.share)


def lines(response: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (whole or streamed)
    """The objects of an ndjson answer, each of them on one line."""
    body = body_of(response)
    assert body.endswith(b"\n")
    return [json.loads(line) for line in body.decode("ascii").splitlines()]


def body_of(response: Any) -> bytes:  # noqa: ANN401 (whole or streamed)
    """The body of an answer, streamed or not."""
    if response.streaming:
        return b"".join(response.streaming_content)
    return bytes(response.content)


def files(response: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (as above)
    """The file lines of a query's answer."""
    return [line["file"] for line in lines(response) if "file" in line]


def local(url: str) -> str:
    """The path and query of a URL, below the endpoint."""
    parts = urlsplit(url)
    return f"{parts.path.removeprefix(PREFIX)}?{parts.query}"


def error(response: HttpResponse) -> Mapping[str, str]:
    """The body of an error, which is all that it holds."""
    assert response["Content-Type"] == "application/json; charset=utf-8"
    body: Mapping[str, str] = json.loads(response.content)
    assert set(body) == {"errorCode", "message"}
    return body


@pytest.fixture
def anonymous() -> Iterator[Client]:
    """A client without a token."""
    yield Client(raise_request_exception=False)
