"""Recipients who call, a table of real files, and how answers are read."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
from django.test import Client

from apps.sharing.models import Recipient, RecipientToken, SharedTable
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from tests.support.tables.raw_table import Operation, TableWriter

PREFIX = "/delta-sharing"
SCHEMA = StructType(parse_columns_ddl("id BIGINT, day DATE"))
DAYS = ("2026-01-01", "2026-01-02", "2026-01-03")

Answer = Any  # of Django's test client, streamed or not


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

    def get(self, path: str, **headers: str) -> Answer:
        """GET a path below the endpoint."""
        return self.ask("GET", path, b"", **headers)

    def head(self, path: str, **headers: str) -> Answer:
        """HEAD a path below the endpoint."""
        return self.ask("HEAD", path, b"", **headers)

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        """Send anything; a header's underscores are hyphens."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.generic(
            method,
            f"{PREFIX}{path}",
            data=body,
            headers={"Authorization": f"Bearer {self.secret}"} | named,
        )

    def query(self, path: str, body: object = None, **headers: str) -> Answer:
        """POST a query about a table."""
        text = json.dumps({} if body is None else body).encode()
        return self.ask("POST", f"{path}/query", text, **headers)


@dataclass
class Lake:
    """A table of which each version after the first adds a file of one day."""

    root: Path
    writer: TableWriter
    paths: list[str] = field(default_factory=list)
    shared: SharedTable = field(init=False)

    def copied_to(self, root: Path, shared: SharedTable) -> "Lake":
        """Copy the table to a place where it is shared from."""
        lake = Lake(root, self.writer.copied_to(root), [*self.paths])
        lake.shared = shared
        return lake

    def append(self, day: str) -> None:
        """Make the next version, with ten rows."""
        at = commit_time(self.writer.version + 1)
        file = self.writer.write_file(
            pa.table({"id": pa.array(range(10), pa.int64())}),
            at=at,
            partition_values={"day": day},
        )
        self.writer.commit(Operation(name="WRITE", user="etl", at=at), [file.add()])
        self.paths.append(file.path)

    def commit(self, *actions: dict[str, object]) -> None:
        """Make the next version of any actions."""
        at = commit_time(self.writer.version + 1)
        self.writer.commit(Operation(name="WRITE", user="etl", at=at), list(actions))

    @property
    def path(self) -> str:
        """The table as recipients address it."""
        share = self.shared.share.name
        return f"/shares/{share}/schemas/{self.shared.schema}/tables/{self.shared.name}"


def write_lake(root: Path) -> Lake:
    """Write versions 0 to 3 of a table that nobody shares yet."""
    writer = TableWriter(root, seed=4)
    writer.create(
        SCHEMA,
        Operation(name="CREATE TABLE", user="etl", at=commit_time(0)),
        partition_columns=["day"],
        description="Orders, day by day\u2028and line by line",
    )
    lake = Lake(root, writer)
    for day in DAYS:
        lake.append(day)
    return lake


def lines(answer: Answer) -> list[dict[str, Any]]:
    """The objects of an ndjson answer, each of them on one line."""
    body = body_of(answer)
    assert body.endswith(b"\n")
    return [json.loads(line) for line in body.decode().splitlines()]


def body_of(answer: Answer) -> bytes:
    """The body of an answer, streamed or not; a stream is read once and kept."""
    if not answer.streaming:
        return bytes(answer.content)
    if not hasattr(answer, "whole_body"):
        answer.whole_body = b"".join(answer.streaming_content)
    whole: bytes = answer.whole_body
    return whole


def files(answer: Answer) -> list[dict[str, Any]]:
    """The file lines of a query's answer."""
    return [line["file"] for line in lines(answer) if "file" in line]


def days(answer: Answer) -> list[str]:
    """The days of the files of a query's answer."""
    return sorted(file["partitionValues"]["day"] for file in files(answer))


def items(answer: Answer) -> list[dict[str, Any]]:
    """The items of a page."""
    found: list[dict[str, Any]] = json.loads(answer.content)["items"]
    return found


def next_token(answer: Answer) -> str | None:
    """The token of the next page, if there is one."""
    body = json.loads(answer.content)
    assert set(body) <= {"items", "nextPageToken"}
    token: str | None = body.get("nextPageToken")
    assert token != ""
    return token


def local(url: str) -> str:
    """The path and query of a URL, below the endpoint."""
    parts = urlsplit(url)
    return f"{parts.path.removeprefix(PREFIX)}?{parts.query}"


def error(answer: Answer) -> Mapping[str, str]:
    """The body of an error, which is all that it holds."""
    assert answer["Content-Type"] == "application/json; charset=utf-8"
    body: Mapping[str, str] = json.loads(answer.content)
    assert set(body) == {"errorCode", "message"}
    return body


def refused(
    answer: Answer, code: str = "INVALID_PARAMETER_VALUE", status: int = 400
) -> str:
    """The message of a request that is refused."""
    assert (answer.status_code, error(answer)["errorCode"]) == (status, code)
    return error(answer)["message"]
