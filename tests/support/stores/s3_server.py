"""An S3 server of this machine (moto's), and tables in it."""

import itertools
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import boto3
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    create_backend_app,
)
from s3fs import S3FileSystem
from werkzeug.serving import make_server

from tests.support.answering import answering

ACCESS_KEY, SECRET_KEY = "deltaweb-key", "deltaweb-secret"
# Every server of a process has the same memory: a name that came back would be taken.
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class S3Server:
    """A running server; every bucket of it is new."""

    url: str

    @property
    def options(self) -> dict[str, Any]:
        """What s3fs needs to reach it."""
        return {
            "key": ACCESS_KEY,
            "secret": SECRET_KEY,
            "client_kwargs": {"endpoint_url": self.url, "region_name": "us-east-1"},
        }

    @property
    def option_texts(self) -> list[str]:
        """The same, as the command line takes them."""
        return [
            f"key={ACCESS_KEY}",
            f"secret={SECRET_KEY}",
            f"client_kwargs.endpoint_url={self.url}",
            "client_kwargs.region_name=us-east-1",
        ]

    def new_bucket(self, *, region: str = "") -> str:
        """Make a bucket and return its name."""
        name = f"bucket-{next(_numbers)}"
        place = {"CreateBucketConfiguration": {"LocationConstraint": region}}
        self._client().create_bucket(Bucket=name, **(place if region else {}))
        return name

    def upload(self, folder: Path, bucket: str, prefix: str) -> None:
        """Put the files of a folder below a prefix."""
        client = self._client()
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            key = f"{prefix}/{file.relative_to(folder).as_posix()}"
            client.put_object(Bucket=bucket, Key=key, Body=file.read_bytes())

    def publish(self, bucket: str) -> None:
        """Let everybody list a bucket and read what is in it."""
        client = self._client()
        client.put_bucket_acl(Bucket=bucket, ACL="public-read")
        for entry in client.list_objects_v2(Bucket=bucket)["Contents"]:
            client.put_object_acl(Bucket=bucket, Key=entry["Key"], ACL="public-read")

    def put(self, url: str, data: bytes) -> None:
        """Put an object by its URL."""
        bucket, _, key = url.removeprefix("s3://").partition("/")
        self._client().put_object(Bucket=bucket, Key=key, Body=data)

    def _client(self) -> Any:  # noqa: ANN401 (boto3 has no types)
        return _client_of(self.url)


@cache  # to make one takes longer than what it is asked
def _client_of(url: str) -> Any:  # noqa: ANN401 (boto3 has no types)
    return boto3.client(
        "s3",
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        endpoint_url=url,
        region_name="us-east-1",
    )


@contextmanager
def counted_requests() -> Iterator[list[str]]:
    """Count what the driver is asked to send."""
    asked: list[str] = []
    call = S3FileSystem.call_s3

    def counted(self: S3FileSystem, method: str, *args: object, **named: object) -> Any:  # noqa: ANN401 (as the driver's)
        asked.append(method)
        return call(self, method, *args, **named)

    S3FileSystem.call_s3 = counted
    try:
        yield asked
    finally:
        S3FileSystem.call_s3 = call


@contextmanager
def running_s3(*, answers_after_s: float = 0) -> Iterator[S3Server]:
    """Run a server on a free port of 127.0.0.1, near or far away.

    Moto looks whether an object is there and then writes it; so that one of two who
    race to create it is refused, as S3 promises, requests with a condition take turns.
    """
    answer, turn = DomainDispatcherApplication(create_backend_app), Lock()

    def application(environ: Any, start_response: Any) -> Any:  # noqa: ANN401 (WSGI's own)
        time.sleep(answers_after_s)
        with turn if "HTTP_IF_NONE_MATCH" in environ else nullcontext():
            return answer(environ, start_response)

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, application, threaded=True)
    with answering(server) as port:
        yield S3Server(f"http://127.0.0.1:{port}")
