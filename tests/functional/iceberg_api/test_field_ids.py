"""Data files with field ids: their sizes, ranges over the seam, and who gets them."""

import io
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.utils import timezone
from pyiceberg.io.pyarrow import pyarrow_to_schema
from pyiceberg.schema import Schema

from apps.pages.actions import command_stamp
from apps.sharing.access.grants.rules import rule_for
from apps.sharing.api.iceberg.layouts import field_ids
from apps.sharing.api.keys import object_keys
from apps.tables.storage.connections import add_connection
from tests.functional.iceberg_api.clients import S3, TABLE
from tests.functional.iceberg_api.reading import Loaded, load
from tests.functional.sharing_api.calls import Caller, Lake, body_of
from tests.functional.sharing_api.ruled import close_file
from tests.support.stores.s3_server import running_s3


@pytest.fixture
def told(lake: Lake, acme: Caller) -> Loaded:
    del lake
    return load(acme, TABLE)


def bytes_of(s3: S3, location: str, **headers: str) -> bytes:
    answer = s3.ask(location, **headers)
    assert answer.status_code in {200, 206}, answer.status_code
    data = body_of(answer)
    close_file(answer)
    return data


def test_manifests_tell_the_size_of_every_served_file(told: Loaded) -> None:
    files = told.files()

    assert len(files) > 1
    for file in files:
        data = told.fetch(file.file_path)
        assert len(data) == file.file_size_in_bytes
        assert told.s3.ask(file.file_path, "HEAD")["Content-Length"] == str(len(data))


def test_every_file_has_the_ids_of_the_schema(told: Loaded) -> None:
    schema = told.table.schema()

    for file in told.files():
        read = pq.read_schema(io.BytesIO(told.fetch(file.file_path)))
        assert_ids(read, schema)


def assert_ids(read: pa.Schema, schema: Schema) -> None:
    for name in read.names:
        known = schema.find_field(name).field_id
        assert read.field(name).metadata == {b"PARQUET:field_id": str(known).encode()}
    assert pyarrow_to_schema(read).highest_field_id >= len(read.names)


def test_ranges_over_the_seam_are_those_of_the_whole(told: Loaded) -> None:
    location = told.files()[0].file_path
    whole = told.fetch(location)
    length = int.from_bytes(whole[-8:-4], "little") + 8
    seam = len(whole) - length

    for first, last in (
        *((0, 3), (0, len(whole) - 1), (seam - 1, seam), (seam - 5, len(whole) - 1)),
        *((seam, seam), (seam - 1, seam - 1), (len(whole) - 8, len(whole) - 1)),
        *((seam - 200, seam + 3), (1, seam - 300)),
    ):
        data = bytes_of(told.s3, location, Range=f"bytes={first}-{last}")
        assert data == whole[first : last + 1], (first, last)
    for tail in (1, 8, length - 1, length, length + 1, length + 200, len(whole)):
        assert bytes_of(told.s3, location, Range=f"bytes=-{tail}") == whole[-tail:]
    assert bytes_of(told.s3, location, Range="bytes=7-") == whole[7:]
    behind = told.s3.ask(location, Range=f"bytes={len(whole)}-")
    assert (behind.status_code, behind["Content-Range"]) == (
        416,
        f"bytes */{len(whole)}",
    )


def test_a_tag_is_of_the_served_bytes(lake: Lake, told: Loaded) -> None:
    location = told.files()[0].file_path
    head = told.s3.ask(location, "HEAD")["ETag"]

    assert bytes_of(told.s3, location, If_Match=head, Range="bytes=-8")[-4:] == b"PAR1"
    touch_files(lake)

    assert told.s3.ask(location, If_Match=head, Range="bytes=-8").status_code == 412
    assert told.s3.ask(location, "HEAD")["ETag"] != head


def touch_files(lake: Lake) -> None:
    for path in lake.root.glob("**/*.parquet"):
        os.utime(path, ns=(1, 1))


def test_a_file_that_was_replaced_is_served_with_its_own_footer(lake, told) -> None:
    file = told.files()[0]
    before = told.fetch(file.file_path)
    table = pq.read_table(io.BytesIO(before))
    paths = [
        path
        for path in lake.root.glob("**/*.parquet")
        if before.startswith(start(path))
    ]
    assert paths
    for path in paths:
        pq.write_table(table.slice(0, 1), path)

    after = bytes_of(told.s3, file.file_path)

    assert pq.read_table(io.BytesIO(after)).to_pylist() == table.slice(0, 1).to_pylist()


def start(path: Path) -> bytes:
    """All of a file before its footer."""
    data = path.read_bytes()
    return data[: -8 - int.from_bytes(data[-8:-4], "little")]


def test_a_share_may_serve_files_as_stored(lake: Lake, acme: Caller) -> None:
    before = load(acme, TABLE)
    names = {file.file_path for file in before.files()}
    share = lake.shared.share
    share.with_field_ids = False
    share.save()

    after = load(acme, TABLE)

    stored = {path.read_bytes() for path in lake.root.glob("**/*.parquet")}
    assert after.location != before.location
    for file in after.files():
        assert after.fetch(file.file_path) in stored
        assert file.file_path not in names
        assert len(after.fetch(file.file_path)) == file.file_size_in_bytes
    assert after.rows() == before.rows()


def test_a_damaged_file_ends_no_process(lake: Lake, told: Loaded) -> None:
    location = told.files()[0].file_path
    for data in (b"", b"PAR1", b"x" * 4000, b"PAR1" + b"\xff" * 60 + b"\x30\0\0\0PAR1"):
        for path in lake.root.glob("**/*.parquet"):
            path.write_bytes(data)

        answer = told.s3.ask(location)

        assert answer.status_code == 200
        assert body_of(answer).replace(bytes(6), b"").startswith(data[:4])
        close_file(answer)


def test_a_file_in_an_object_store_is_served_like_any(lake: Lake, acme: Caller) -> None:
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
        told = load(acme, TABLE)
        file = told.files()[0]

        whole = told.fetch(file.file_path)
        assert len(whole) == file.file_size_in_bytes
        assert_ids(pq.read_schema(io.BytesIO(whole)), told.table.schema())
        seam = len(whole) - int.from_bytes(whole[-8:-4], "little") - 8
        for first, last in ((0, 9), (seam - 300, seam + 2), (seam + 1, len(whole) - 1)):
            data = bytes_of(told.s3, file.file_path, Range=f"bytes={first}-{last}")
            assert data == whole[first : last + 1]
        tag = told.s3.ask(file.file_path, "HEAD")["ETag"]

        sizes = set()
        for number in (1, 2):  # of one size
            rows = pa.table({"id": [number]})
            for path in lake.root.glob("**/*.parquet"):
                pq.write_table(rows, path, compression="none")
            server.upload(lake.root, bucket, "orders")
            after = bytes_of(told.s3, file.file_path)
            sizes.add(len(after))
            assert pq.read_table(io.BytesIO(after)).to_pylist() == rows.to_pylist()
            assert (
                pq.read_metadata(io.BytesIO(after))
                .row_group(0)
                .column(0)
                .statistics.max
                == number
            )
            assert told.s3.ask(file.file_path, "HEAD")["ETag"] != tag
        assert len(sizes) == 1


def test_columns_that_get_a_mapping_are_read_by_their_new_ids(
    lake: Lake, acme: Caller
) -> None:
    before = load(acme, TABLE)
    rows = before.rows()  # the server keeps the footers that it made for this
    map_columns(lake)

    after = load(acme, TABLE)

    assert after.table.schema().find_field("id").field_id == 1
    assert after.files()[0].file_path != before.files()[0].file_path
    assert after.rows() == rows
    file = before.files()[0].file_path
    assert bytes_of(before.s3, file) == before.fetch(file)


def test_a_table_that_was_created_again_with_other_ids_has_other_names(
    lake: Lake, acme: Caller
) -> None:
    rows = load(acme, TABLE).rows()
    map_columns(lake)
    before = load(acme, TABLE)
    name = before.files()[0].file_path
    assert before.rows() == rows
    commit = lake.root / "_delta_log" / f"{4:020}.json"
    last = len(before.table.schema().fields)
    text = commit.read_text()
    for at in range(1, last + 1):
        text = text.replace(f'Mapping.id\\": {at}', f'Mapping.id\\": <{last + 1 - at}')
    assert "<" in text
    commit.write_text(text.replace("<", ""))

    after = load(acme, TABLE)

    assert after.table.schema().find_field("id").field_id == last
    assert after.rows() == rows
    assert after.files()[0].file_path != name
    assert bytes_of(before.s3, name) == before.fetch(name)
    found = field_ids(
        lake.shared,
        rule_for(lake.shared, acme.recipient),
        keys=object_keys(),
        now=timezone.now(),
        last_version=4,
        digest="of another process",
    )
    assert found is None


def map_columns(lake: Lake) -> None:
    """Let the table map its columns by name, which changes no file."""
    first = (lake.root / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    (metadata,) = [
        one["metaData"] for one in map(json.loads, first) if "metaData" in one
    ]
    schema = json.loads(metadata["schemaString"])
    for at, column in enumerate(schema["fields"], 1):
        column["metadata"]["delta.columnMapping.id"] = at
        column["metadata"]["delta.columnMapping.physicalName"] = column["name"]
    metadata["schemaString"] = json.dumps(schema)
    metadata["configuration"] |= {
        "delta.columnMapping.mode": "name",
        "delta.columnMapping.maxColumnId": str(len(schema["fields"])),
    }
    protocol = {"minReaderVersion": 2, "minWriterVersion": 5}
    lake.commit({"protocol": protocol}, {"metaData": metadata})


def test_a_range_of_another_state_is_the_whole_file(lake: Lake, told: Loaded) -> None:
    location = told.files()[0].file_path
    head = told.s3.ask(location, "HEAD")["ETag"]
    same = told.s3.ask(location, If_Range=head, Range="bytes=-8")
    assert (same.status_code, body_of(same)[-4:]) == (206, b"PAR1")
    touch_files(lake)

    answer = told.s3.ask(location, If_Range=head, Range="bytes=-8")

    assert answer.status_code == 200
    assert body_of(answer) == told.fetch(location)
    close_file(answer)


def test_a_schema_that_is_no_list_ends_no_process(lake: Lake, told: Loaded) -> None:
    location = told.files()[0].file_path
    footer = b"\x25\x1c\x00"  # field 2 as a number
    data = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    for path in lake.root.glob("**/*.parquet"):
        path.write_bytes(data)

    assert bytes_of(told.s3, location).endswith(data[4:])
