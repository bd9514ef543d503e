"""An S3 server of this machine (moto's), and tables in it."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
from s3fs import S3FileSystem

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
        return boto3.client(
            "s3",
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            endpoint_url=self.url,
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
def running_s3() -> Iterator[S3Server]:
    """Run a server on a free port of 127.0.0.1."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield S3Server(f"http://{host}:{port}")
    finally:
        server.stop()
