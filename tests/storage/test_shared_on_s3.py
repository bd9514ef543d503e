"""A recipient reads a table on S3: our server answers, S3 itself hands out files."""

import json
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import requests
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from apps.pages.actions import COMMAND_LINE, Stamp
from apps.sharing.models import RecipientToken, SharedTable
from apps.tables.storage.connections import add_connection
from apps.tables.storage.options import parse_options
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
)
from tests.support.stores.s3_server import S3Server

pytestmark = pytest.mark.django_db
QUERY = "/delta-sharing/shares/sales/schemas/crm/tables/orders/query"


@pytest.fixture(scope="module")
def location(s3: S3Server, lake: Path) -> str:
    bucket = s3.new_bucket()
    s3.upload(lake / "device_readings", bucket, "lake/readings")
    return f"s3://{bucket}/lake/readings"


@pytest.fixture
def secret(location: str, settings: Settings, tmp_path: Path) -> str:
    """The token of a recipient who may read the table."""
    settings.HOME = tmp_path
    share = new_share("sales")
    new_shared_table(share, "crm.orders", table=new_table("orders", location=location))
    recipient = new_recipient()
    new_grant(share, recipient)
    expires_at = timezone.now() + timedelta(days=1)
    return new_token(recipient, expires_at=expires_at)[1]


def add_storage(*texts: str) -> None:
    add_connection(
        name="lake",
        prefix="s3://",
        options=parse_options(texts, base=Path("/")),
        stamp=Stamp(COMMAND_LINE, NOW),
    )


def query(secret: str, **body: object) -> tuple[int, str]:
    answer = Client(raise_request_exception=False).post(
        QUERY,
        json.dumps(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    return answer.status_code, answer.getvalue().decode()


def test_a_recipient_fetches_every_row_from_s3(secret: str, s3: S3Server, lake: Path):
    add_storage(*s3.option_texts)

    status, text = query(secret)

    assert status == 200, text
    files = [json.loads(line)["file"] for line in text.splitlines()[2:]]
    assert all(file["url"].startswith(s3.url) for file in files)
    fetched: list[int] = []
    for file in files:
        content = requests.get(file["url"], timeout=60).content
        assert len(content) == file["size"]
        rows = pq.read_table(pa.BufferReader(content), columns=["reading_id"])
        fetched.extend(rows["reading_id"].to_pylist())
    expected = (
        DeltaTable(str(lake / "device_readings"))
        .snapshot()
        .read(columns=["reading_id"])
    )
    assert sorted(fetched) == sorted(expected["reading_id"].to_pylist())
    assert "deltaweb-secret" not in text


def test_a_url_is_told_to_end_when_it_does(secret: str, s3: S3Server) -> None:
    add_storage(*s3.option_texts)

    _, text = query(secret)

    file = json.loads(text.splitlines()[2])["file"]
    left_s = file["expirationTimestamp"] / 1000 - timezone.now().timestamp()
    assert 3500 < left_s <= 3600
    assert "X-Amz-Expires=3600" in file["url"]


@cases(
    "terms, lifetime_s",
    {
        "a condition": ({"condition": "reading_id >= -1"}, 900),
        "a first version": ({"start_version": 0}, 900),
        "the newest version alone": ({"with_history": False}, 3600),
    },
)
def test_a_url_of_a_part_lives_for_a_quarter_of_an_hour(
    secret: str, s3: S3Server, terms: dict[str, object], lifetime_s: int
) -> None:
    """Untouched files of a part are offered as the store has them."""
    add_storage(*s3.option_texts)
    SharedTable.objects.update(**terms)

    status, text = query(secret)

    assert status == 200, text
    file = json.loads(text.splitlines()[2])["file"]
    left_s = file["expirationTimestamp"] / 1000 - timezone.now().timestamp()
    assert lifetime_s - 100 < left_s <= lifetime_s
    assert f"X-Amz-Expires={lifetime_s}&" in file["url"]


def test_a_url_of_a_part_is_renewed_by_a_refresh_token(
    secret: str, s3: S3Server, settings: Settings
) -> None:
    add_storage(*s3.option_texts)
    SharedTable.objects.update(start_version=0)
    settings.PART_URL_LIFETIME_S = 60
    _, text = query(secret, includeRefreshToken=True)
    *files, end = map(json.loads, text.splitlines()[2:])
    told = end["endStreamAction"]
    settings.PART_URL_LIFETIME_S = 600

    status, again = query(secret, refreshToken=told["refreshToken"])

    fresh = [json.loads(line) for line in again.splitlines()[2:]]
    assert status == 200
    assert [one["file"]["id"] for one in fresh if "file" in one] == [
        one["file"]["id"] for one in files
    ]
    assert fresh[0]["file"]["expirationTimestamp"] > (
        told["minUrlExpirationTimestamp"] + 400_000
    )


def test_a_url_ends_with_the_token_that_asked_for_it(secret: str, s3: S3Server) -> None:
    add_storage(*s3.option_texts)
    ends_at = timezone.now() + timedelta(minutes=2)
    RecipientToken.objects.update(retires_at=ends_at)

    _, text = query(secret)

    file = json.loads(text.splitlines()[2])["file"]
    assert file["expirationTimestamp"] <= ends_at.timestamp() * 1000


@cases(
    "texts",
    {
        "a missing key": ["key=env:NO_SUCH_KEY", "secret=hunter2"],
        "an option that does not fit": [
            "key=hunter2",
            "secret=hunter2",
            "config_kwargs.hunter3=1",
        ],
    },
)
def test_a_recipient_learns_nothing_of_a_storage_that_fails(secret, texts):
    add_storage(*texts)

    status, text = query(secret)

    assert status >= 400
    assert {"errorCode", "message"} == set(json.loads(text))
    for word in ("hunter", "NO_SUCH_KEY", "s3://", "bucket"):
        assert word not in text
