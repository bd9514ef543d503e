"""Signed URLs of 10,000 files, beside boto3: `python -m tests.benchmarks signing`.

Ours and boto3's sign the same keys in turn (A B A B), after one round to warm up and
after their URLs were found equal. The line says how many times as many URLs a second.
"""

import statistics
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import boto3
from botocore.config import Config

from deltaweb.storage.signing.derived_keys import derive_keys
from deltaweb.storage.signing.file_urls import LocalFileSigner
from deltaweb.storage.signing.signer import open_signer
from tests.benchmarks.measured import seconds_of

FILES = 10_000
THEIRS = 1_000  # boto3 signs a part of them; both are told a URL
ROUNDS = 5
GOAL = 20
BUCKET, PREFIX = "bucket", "lake/orders"
OPTIONS = {
    "key": "AKIAEXAMPLE",
    "secret": "secret",
    "client_kwargs": {"region_name": "eu-central-1"},
}


def main() -> None:
    """Compare with boto3, and tell how fast local URLs are."""
    paths = [
        f"day=2026-01-{i % 28 + 1:02}/part-{i:05}-{uuid.uuid4()}-c000.parquet"
        for i in range(FILES)
    ]
    client = boto3.client(
        "s3",
        aws_access_key_id=OPTIONS["key"],
        aws_secret_access_key=OPTIONS["secret"],
        region_name="eu-central-1",
        config=Config(signature_version="s3v4"),
    )

    def theirs(count: int) -> list[str]:
        return [
            client.generate_presigned_url(
                "get_object",
                Params={"Bucket": BUCKET, "Key": f"{PREFIX}/{path}"},
                ExpiresIn=3600,
            )
            for path in paths[:count]
        ]

    def ours(now: datetime) -> list[str]:
        # Opened anew as for every answer: options, credentials, the day's key.
        signer = open_signer(
            f"s3://{BUCKET}/{PREFIX}", OPTIONS, now=now, lifetime_s=3600
        )
        return signer.sign(paths, [])

    _check_equal(theirs(3), ours)
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS + 1):
        seconds[0].append(seconds_of(lambda: ours(datetime.now(UTC))) / FILES)
        seconds[1].append(seconds_of(lambda: theirs(THEIRS)) / THEIRS)
    mine, boto = (statistics.median(values[1:]) for values in seconds)
    ratio = boto / mine
    verdict = "ok" if ratio >= GOAL else "MISSED"
    print(
        f"presign S3, {FILES:,} files  {1 / mine:>12,.0f} URLs/s"
        f"  boto3 {1 / boto:>8,.0f} URLs/s  {ratio:6.1f}x  goal {GOAL}x  {verdict}"
    )
    _print_local(paths)


def _check_equal(theirs: list[str], ours: Callable[[datetime], list[str]]) -> None:
    """Stop when a URL is not the same, byte for byte."""
    for position, url in enumerate(theirs):
        stamp = parse_qs(urlsplit(url).query)["X-Amz-Date"][0]
        now = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        if ours(now)[position] != url:
            message = f"the URLs of file {position} differ"
            raise SystemExit(message)


def _print_local(paths: list[str]) -> None:
    signer = LocalFileSigner(
        base_url="http://127.0.0.1:8000",
        share="sales",
        table_id=uuid.uuid4(),
        token_id=uuid.uuid4(),
        terms=("table", "rule", "True", ""),
        keys=derive_keys("secret", [], "file urls"),
        expires_at=datetime.now(UTC) + timedelta(hours=1),
    )
    sizes = range(len(paths))
    took = statistics.median(
        seconds_of(lambda: signer.sign(paths, sizes)) for _ in range(ROUNDS)
    )
    print(f"sign local, {FILES:,} files  {FILES / took:>12,.0f} URLs/s")


if __name__ == "__main__":
    main()
