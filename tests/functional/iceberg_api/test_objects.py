"""The objects of tables, by the protocol of S3."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.pages.actions import command_stamp
from apps.sharing.models import Grant, SharedTable
from apps.tables.storage.connections import add_connection
from tests.functional.iceberg_api.clients import S3, loaded
from tests.functional.sharing_api.calls import Caller, Lake, body_of
from tests.functional.sharing_api.conftest import NewCaller
from tests.functional.sharing_api.ruled import close_file
from tests.support import cases
from tests.support.pages.factories import new_shared_table, new_table
from tests.support.stores.s3_server import running_s3


def manifest_list(metadata: dict[str, list[dict[str, str]]]) -> str:
    return metadata["snapshots"][-1]["manifest-list"]


def data_location(lake: Lake, caller: Caller) -> tuple[str, S3, bytes]:
    """Where a data file is as stored, by its path."""
    from apps.sharing.access.grants.rules import rule_for
    from apps.sharing.api.iceberg.layouts import open_iceberg_table
    from apps.sharing.api.keys import object_keys

    _, s3 = loaded(caller)
    rule = rule_for(lake.shared, caller.recipient)
    now = timezone.now()
    table = open_iceberg_table(lake.shared, rule, keys=object_keys(), now=now)
    names = replace(table.names(3), form=None)
    (location,) = names.data(lake.paths[:1]).to_pylist()
    return location, s3, (lake.root / lake.paths[0]).read_bytes()


@pytest.fixture
def stored(lake: Lake, acme: Caller) -> tuple[str, S3, bytes]:
    """A data file's location, who may fetch it, and its bytes."""
    return data_location(lake, acme)


def test_a_data_file_is_answered_whole(stored: tuple[str, S3, bytes]) -> None:
    location, s3, data = stored

    answer = s3.ask(location)

    assert (answer.status_code, body_of(answer)) == (200, data)
    assert answer["Content-Length"] == str(len(data))


def test_metadata_is_answered_as_it_was_told_of(acme: Caller) -> None:
    metadata, s3 = loaded(acme)

    answer = s3.ask(manifest_list(metadata))

    assert answer.status_code == 200
    assert answer.content.startswith(b"Obj\x01")
    assert b"s3://iceberg/t/" not in s3.ask(manifest_list(metadata), "HEAD").content


@pytest.mark.parametrize(
    ("wanted", "first", "last"),
    [("bytes=0-3", 0, 3), ("bytes=4-", 4, None), ("bytes=-8", -8, None)],
)
def test_a_part_of_a_file_is_answered(stored, wanted, first, last):
    location, s3, data = stored
    end = None if last is None else last + 1

    answer = s3.ask(location, Range=wanted)

    assert (answer.status_code, body_of(answer)) == (206, data[first:end])
    assert answer["Content-Range"].endswith(f"/{len(data)}")


def test_a_head_tells_what_a_get_would(stored: tuple[str, S3, bytes]) -> None:
    location, s3, data = stored

    head, got = s3.ask(location, "HEAD"), s3.ask(location)

    assert (head.status_code, head.content) == (200, b"")
    assert head["Content-Length"] == str(len(data))
    assert head["ETag"] == got["ETag"]
    assert body_of(got)


def test_a_file_that_became_another_is_not_read_on(stored):
    location, s3, data = stored
    etag = s3.ask(location, "HEAD")["ETag"]

    same = s3.ask(location, If_Match=etag, Range="bytes=0-1")
    other = s3.ask(location, If_Match='"other"', Range="bytes=0-1")

    assert (same.status_code, body_of(same)) == (206, data[:2])
    assert other.status_code == 412
    assert b"<Code>PreconditionFailed</Code>" in other.content


def test_a_range_behind_the_end_is_refused(stored: tuple[str, S3, bytes]) -> None:
    location, s3, data = stored

    answer = s3.ask(location, Range="bytes=999999-")

    assert (answer.status_code, answer["Content-Range"]) == (
        416,
        f"bytes */{len(data)}",
    )
    assert b"<Code>InvalidRange</Code>" in answer.content


def test_an_odd_range_gives_the_file_or_is_refused(stored) -> None:
    location, s3, data = stored
    odd = {
        "bytes=5-2": 200,
        "bytes=0-0,2-3": 200,
        "lines=0-3": 200,
        "bytes=": 200,
        "bytes=-": 200,
        "bytes=a-b": 200,
        "bytes=--1": 200,
        "bytes=-0": 416,
        "bytes=\u0663-\u0665": 200,
        f"bytes={'9' * 400}-": 416,
        f"bytes=0-{'9' * 400}": 206,
        f"bytes=-{'9' * 400}": 206,
    }

    for wanted, status in odd.items():
        answer = s3.ask(location, Range=wanted)

        assert answer.status_code == status, wanted
        if status != 416:
            assert body_of(answer) == data, wanted


def test_nothing_is_written(stored: tuple[str, S3, bytes]) -> None:
    location, s3, _ = stored

    for method in ("PUT", "POST", "DELETE", "PATCH"):
        answer = s3.ask(location, method)

        assert answer.status_code == 405
        assert b"<Code>MethodNotAllowed</Code>" in answer.content


# === Who may not ===


def with_key(name: str, value: str) -> Callable[[S3], None]:
    def change(s3: S3) -> None:
        s3.config[name] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        with_key("s3.secret-access-key", "another"),
        with_key("s3.access-key-id", "DWANOTHER"),
        with_key("s3.session-token", "another"),
        with_key("s3.session-token", "ü" * 300),
        with_key("s3.session-token", ""),
    ],
)
def test_other_keys_open_nothing(stored, change):
    location, s3, _ = stored
    change(s3)

    assert_refused(s3.ask(location))


def test_nothing_opens_without_a_signature(stored, acme):
    location, _, _ = stored
    path = location.removeprefix("s3:/")

    for headers in ({}, {"Authorization": f"Bearer {acme.secret}"}):
        assert_refused(Client().get(path, headers=headers))


@cases(
    "end",
    {
        "the token was revoked": lambda acme, _: revoke(acme),
        "the token has ended": lambda acme, _: expire(acme),
        "the address is not allowed": lambda acme, _: networks(acme),
        "the grant was taken back": lambda *_: Grant.objects.all().delete(),
        "the table was taken out": lambda _, lake: lake.shared.delete(),
    },
)
def test_the_grant_is_asked_for_again_in_each_request(lake, acme, end):
    location, s3, _ = data_location(lake, acme)
    metadata, _ = loaded(acme)

    end(acme, lake)

    assert_refused(s3.ask(location))
    assert_refused(s3.ask(manifest_list(metadata)))


def revoke(acme: Caller) -> None:
    acme.token.revoked_at = timezone.now()
    acme.token.save()


def expire(acme: Caller) -> None:
    acme.token.expires_at = timezone.now() - timedelta(seconds=1)
    acme.token.save()


def networks(acme: Caller) -> None:
    acme.recipient.allowed_networks = ["192.0.2.0/24"]
    acme.recipient.save()


@cases(
    "terms, status",
    {
        "a condition": ({"condition": "id < 5"}, 404),
        "columns": ({"columns": ["id"]}, 404),
        "a first version": ({"start_version": 2}, 404),
        "no history": ({"with_history": False}, 404),
        "a comment": ({"comment": "Orders"}, 200),
    },
)
def test_a_file_ends_with_the_terms_that_it_was_told_of(stored, terms, status) -> None:
    location, s3, _ = stored
    opened = s3.ask(location)
    assert body_of(opened)
    close_file(opened)

    SharedTable.objects.update(**terms)

    answer = s3.ask(location)
    assert answer.status_code == status
    body_of(answer)
    close_file(answer)


def test_keys_open_one_table_alone(lake: Lake, acme: Caller) -> None:
    location, _, _ = data_location(lake, acme)
    other = new_table("crm.other", location=str(lake.root))
    shared = new_shared_table(lake.shared.share, "crm.Other", table=other)
    _, s3 = loaded(acme, "/v1/namespaces/sales%1Fcrm/tables/other")

    assert_refused(s3.ask(location))
    moved = location.replace(str(lake.shared.id), str(shared.id))
    assert s3.ask(moved).status_code == 404


def test_keys_of_one_recipient_are_of_no_use_with_those_of_another(
    lake: Lake, acme: Caller, new_caller: NewCaller
) -> None:
    location, s3, _ = data_location(lake, acme)
    globex = new_caller("globex", lake.shared.share)
    _, theirs = loaded(globex)
    theirs.config["s3.session-token"] = s3.config["s3.session-token"]

    assert_refused(theirs.ask(location))


def test_files_that_no_manifest_names_are_not_there(lake, stored):
    location, s3, _ = stored
    (lake.root / "orphan.parquet").write_bytes(b"secret")
    head = location.rpartition("/")[0]

    for name in (
        "orphan.parquet",
        "../../_delta_log/00000000000000000000.json",
        "AAAA",
    ):
        answer = s3.ask(f"{head}/{name}")
        assert answer.status_code == 404
        assert b"<Code>NoSuchKey</Code>" in answer.content


ODD_KEYS = [
    *("", "t", "t/", "t/..", "..", "%2e%2e/%2e%2e/etc/passwd", "%00", "a%0d%0ab"),
    "{head}/..%2f..%2f_delta_log/00000000000000000000.json",
    "{head}/%2e%2e/%2e%2e/{end}",
    "{head}//{end}",
    "{head}/{end}%00",
    "{head}/{end}/",
    "{head}/" + "A" * 20_000 + ".parquet",
    "{head}/\u00e9.parquet",
    "{table}/vectors/{end}",
    "{table}/metadata/-1-0.json",
    "{table}/metadata/99999999999999999999-0/list.avro",
    "{table}/metadata/3-0/list.avro",
]


def test_an_odd_key_names_nothing_else(stored: tuple[str, S3, bytes]) -> None:
    location, s3, data = stored
    head, _, end = location.removeprefix("s3://iceberg/").rpartition("/")
    table = head.removesuffix("/data")

    for key in ODD_KEYS:
        answer = s3.ask(f"s3://iceberg/{key.format(head=head, end=end, table=table)}")
        assert 400 <= answer.status_code < 500, key
        assert data not in answer.content, key
    assert body_of(s3.ask(location, query="?versionId=1")) == data


def test_nothing_is_listed(stored: tuple[str, S3, bytes]) -> None:
    _, s3, _ = stored

    for query in ("?list-type=2", "?list-type=2&prefix=t%2F", "?acl"):
        answer = s3.ask("s3://iceberg/", query=query)

        assert 400 <= answer.status_code < 500, query
        assert b"<Contents>" not in answer.content, query


def test_versions_that_are_shared_no_longer_are_closed(lake, acme, settings):
    del settings
    location, s3, data = data_location(lake, acme)
    lake.shared.start_version = 3
    lake.shared.save()

    fresh, again, _ = data_location(lake, acme)

    assert s3.ask(location).status_code == 404
    assert body_of(again.ask(fresh)) == data


def test_a_file_that_is_gone_is_said_to_be(lake, stored):
    location, s3, _ = stored
    (lake.root / lake.paths[0]).unlink()

    answer = s3.ask(location)

    assert answer.status_code == 404
    assert b"<Code>NoSuchKey</Code>" in answer.content


def assert_refused(answer):
    assert answer.status_code == 403, answer.content
    assert answer["Content-Type"] == "application/xml"
    assert b"<Error><Code>" in answer.content


def test_a_file_in_an_object_store_is_answered_like_any(lake, acme):
    location, _, data = data_location(lake, acme)
    with running_s3() as server:
        bucket = server.new_bucket()
        server.upload(lake.root, bucket, "orders")
        add_connection(
            name="lake",
            prefix=f"s3://{bucket}/",
            options=dict(one.split("=", 1) for one in server.option_texts),
            stamp=command_stamp(),
        )
        lake.shared.table.location = f"s3://{bucket}/orders"
        lake.shared.table.save()
        _, s3 = loaded(acme)

        whole, part = s3.ask(location), s3.ask(location, Range="bytes=-8")

        assert (whole.status_code, body_of(whole)) == (200, data)
        assert (part.status_code, body_of(part)) == (206, data[-8:])
        assert s3.ask(location, "HEAD")["Content-Length"] == str(len(data))
