"""A server that answers as the JSON API of Google Cloud Storage is documented to.

It is of this project since no emulator that is installed as a package does what commits
rely on: to honour `ifGenerationMatch`, and to list by pages from a name. It keeps
objects in memory, and knows no accounts.

Source: Google Cloud Storage, "JSON API reference" and "Request preconditions".
"""

import itertools
import json
import re
import threading
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.answering import answering

OBJECTS: Final = re.compile(r"(?:/download)?/storage/v1/b/([^/]+)/o(?:/(.+))?")
BUCKET: Final = re.compile(r"/storage/v1/b/([^/]+)")
UPLOADS: Final = re.compile(r"/upload/storage/v1/b/([^/]+)/o")
MOST_NAMES: Final = 1_000
Answer = tuple[int, Mapping[str, str], bytes]


@dataclass(frozen=True, slots=True)
class StoredObject:
    """The bytes of an object, and what is told of them."""

    data: bytes
    generation: int
    updated: datetime


@dataclass(eq=False)
class GoogleServer:
    """A running server; every bucket of it is new.

    Attributes:
        url: Where it listens.
        names_a_page: How many names a listing has at most.
        lost_answers: How many uploads from now on are done and answered with 503.
    """

    url: str = ""
    names_a_page: int = MOST_NAMES
    lost_answers: int = 0
    buckets: dict[str, dict[str, StoredObject]] = field(default_factory=dict)
    sessions: dict[str, "Session"] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def options(self) -> dict[str, Any]:
        """What gcsfs needs to reach it."""
        return {"token": "anon", "endpoint_url": self.url}

    def new_bucket(self) -> str:
        """Make a bucket and return its name."""
        name = f"bucket-{next(self.numbers)}"
        self.buckets[name] = {}
        return name

    # === Objects ===

    def insert(
        self, bucket: str, name: str, data: bytes, query: Mapping[str, str]
    ) -> Answer:
        """Store an object, if the precondition holds; of racing ones, one does."""
        with self.lock:
            before = self.buckets[bucket].get(name)
            wanted = query.get("ifGenerationMatch")
            now = before.generation if before else 0
            if wanted is not None and int(wanted) != now:
                return fault(HTTPStatus.PRECONDITION_FAILED)
            stored = StoredObject(data, next(self.numbers), datetime.now(UTC))
            self.buckets[bucket][name] = stored
            if self.lost_answers:
                self.lost_answers -= 1
                return fault(HTTPStatus.SERVICE_UNAVAILABLE)
        return told(resource(bucket, name, stored))

    def listing(self, bucket: str, query: Mapping[str, str]) -> Answer:
        """List a page of names, in their order as UTF-8."""
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        first = max(query.get("startOffset", ""), query.get("pageToken", ""))
        most = min(int(query.get("maxResults", MOST_NAMES)), self.names_a_page)
        objects = dict(self.buckets[bucket])
        names = sorted(objects, key=str.encode)
        items: list[dict[str, Any]] = []
        folders: dict[str, None] = {}
        start = bisect_left([name.encode() for name in names], first.encode())
        for name in names[start:]:
            if not name.startswith(prefix):
                continue
            if len(items) + len(folders) == most:
                page = {"items": items, "prefixes": [*folders], "nextPageToken": name}
                return told({"kind": "storage#objects", **page})
            rest = name[len(prefix) :]
            if delimiter and delimiter in rest:
                folders[prefix + rest.partition(delimiter)[0] + delimiter] = None
            else:
                items.append(resource(bucket, name, objects[name]))
        page = {"items": items, "prefixes": [*folders]}
        return told({"kind": "storage#objects", **page})

    def get(self, bucket: str, name: str, *, span: str, is_media: bool) -> Answer:
        """Return what is told of an object, or its bytes."""
        found = self.buckets[bucket].get(name)
        if found is None:
            return fault(HTTPStatus.NOT_FOUND)
        if not is_media:
            return told(resource(bucket, name, found))
        if not span:
            return HTTPStatus.OK, {}, found.data
        first, _, last = span.removeprefix("bytes=").partition("-")
        if int(first or 0) >= len(found.data):
            return fault(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
        part = found.data[int(first) : int(last) + 1 if last else None]
        return HTTPStatus.PARTIAL_CONTENT, {}, part

    def delete(self, bucket: str, name: str) -> Answer:
        """Delete an object."""
        gone = self.buckets[bucket].pop(name, None)
        return fault(HTTPStatus.NOT_FOUND) if gone is None else (204, {}, b"")


@dataclass(eq=False)
class Session:
    """A resumable upload: what came so far, and what was asked at its beginning."""

    bucket: str
    name: str
    query: Mapping[str, str]
    data: bytearray = field(default_factory=bytearray)


def resource(bucket: str, name: str, stored: StoredObject) -> dict[str, Any]:
    """Return an object as the API tells it: numbers are texts."""
    return {
        "kind": "storage#object",
        "bucket": bucket,
        "name": name,
        "size": str(len(stored.data)),
        "generation": str(stored.generation),
        "metageneration": "1",
        "updated": stored.updated.isoformat().replace("+00:00", "Z"),
    }


def told(values: Mapping[str, Any]) -> Answer:
    """Return JSON."""
    body = json.dumps(values).encode()
    return HTTPStatus.OK, {"Content-Type": "application/json"}, body


def fault(status: HTTPStatus) -> Answer:
    """Return an error as the API does."""
    error = {"error": {"code": int(status), "message": status.phrase}}
    body = json.dumps(error).encode()
    return status, {"Content-Type": "application/json"}, body


class Handler(BaseHTTPRequestHandler):
    """Finds out what a request asks."""

    protocol_version = "HTTP/1.1"
    google: GoogleServer

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = urlsplit(self.path)
        query = {name: found[-1] for name, found in parse_qs(address.query).items()}
        try:
            status, headers, data = self._found(address.path, query, body)
        except KeyError:
            status, headers, data = fault(HTTPStatus.NOT_FOUND)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _found(self, path: str, query: Mapping[str, str], body: bytes) -> Answer:
        google = self.google
        if found := UPLOADS.fullmatch(path):
            return self._upload(found[1], query, body)
        if found := BUCKET.fullmatch(path):
            name, _ = found[1], google.buckets[found[1]]
            return told({"kind": "storage#bucket", "name": name})
        found = OBJECTS.fullmatch(path)
        if found is None:
            return fault(HTTPStatus.NOT_FOUND)
        bucket, name = found[1], unquote(found[2] or "")
        if not name:
            return google.listing(bucket, query)
        if self.command == "DELETE":
            return google.delete(bucket, name)
        span = self.headers.get("Range") or ""
        is_media = query.get("alt") == "media"
        return google.get(bucket, name, span=span, is_media=is_media)

    def _upload(self, bucket: str, query: Mapping[str, str], body: bytes) -> Answer:
        google = self.google
        if "upload_id" in query:
            session = google.sessions[query["upload_id"]]
            session.data += body
            total = int(self.headers["Content-Range"].rpartition("/")[2])
            if len(session.data) < total:
                last = f"bytes=0-{len(session.data) - 1}"
                return HTTPStatus.PERMANENT_REDIRECT, {"Range": last}, b""
            data = bytes(session.data)
            return google.insert(bucket, session.name, data, session.query)
        if query["uploadType"] == "resumable":
            upload = f"{next(google.numbers)}"
            name = json.loads(body)["name"]
            google.sessions[upload] = Session(bucket, name, query)
            place = f"{google.url}/upload/storage/v1/b/{bucket}/o?upload_id={upload}"
            return HTTPStatus.OK, {"Location": place}, b""
        boundary = self.headers.get_boundary() or ""
        _, about, content, _ = body.split(b"--" + boundary.encode(), 3)
        name = json.loads(about.split(b"\n\n", 1)[1])["name"]
        data = content.split(b"\n\n", 1)[1].removesuffix(b"\n")
        return google.insert(bucket, name, data, query)


@contextmanager
def running_google() -> Iterator[GoogleServer]:
    """Run a server on a free port of 127.0.0.1; it keeps nothing."""
    google = GoogleServer()
    handler = type("GoogleHandler", (Handler,), {"google": google})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    google.url = f"http://127.0.0.1:{server.server_port}"
    with answering(server):
        yield google
