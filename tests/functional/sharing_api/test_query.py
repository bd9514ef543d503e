import hashlib
import json
from datetime import UTC, datetime

import pytest
from pytest_django import Settings

from deltaweb.sharing.table_query import MAX_BODY_BYTES
from tests.functional.sharing_api.calls import (
    DAYS,
    Caller,
    Lake,
    body_of,
    commit_time,
    days,
    files,
    lines,
    refused,
)
from tests.functional.sharing_api.ends import share_with
from tests.support import cases
from tests.support.logs.delta_logs import metadata
from tests.support.logs.local_logs import typed_schema

PARQUET = "responseformat=parquet"
MALFORMED = "MALFORMED_REQUEST"


class TestMetadata:
    def test_is_two_lines(self, acme: Caller, lake: Lake) -> None:
        answer = acme.get(f"{lake.path}/metadata")

        protocol, metadata = lines(answer)
        assert protocol == {"protocol": {"minReaderVersion": 1}}
        told = metadata["metaData"]
        assert told["format"] == {"provider": "parquet"}
        assert told["partitionColumns"] == ["day"]
        assert [f["name"] for f in json.loads(told["schemaString"])["fields"]] == [
            *("id", "day")
        ]
        assert (told["version"], told["numFiles"]) == (3, 3)
        assert told["size"] == sum(
            file["size"] for file in files(acme.query(lake.path))
        )

    def test_has_the_headers_of_the_protocol(self, acme: Caller, lake: Lake) -> None:
        for answer in (acme.get(f"{lake.path}/metadata"), acme.query(lake.path)):
            assert answer["Content-Type"] == "application/x-ndjson; charset=utf-8"
            assert answer["Delta-Table-Version"] == "3"
            assert answer["delta-sharing-capabilities"] == PARQUET
            assert answer["Cache-Control"] == "no-store"

    def test_answers_to_head(self, acme: Caller, lake: Lake) -> None:
        answer = acme.head(f"{lake.path}/metadata")

        assert answer.content == b""
        assert answer["Delta-Table-Version"] == "3"


class TestQuery:
    def test_answers_with_protocol_metadata_and_files(self, acme: Caller, lake: Lake):
        answer = acme.query(lake.path)

        assert answer.status_code == 200
        assert answer.streaming
        protocol, metadata, *rest = lines(answer)
        assert [protocol, metadata] == lines(acme.get(f"{lake.path}/metadata"))
        assert [list(line) for line in rest] == [["file"]] * 3
        assert str(lake.root).encode() not in body_of(answer)
        assert "deltaweb-skipped-hints" not in answer
        assert "Content-Encoding" not in answer

    def test_tells_of_each_file(self, acme: Caller, lake: Lake, settings: Settings):
        settings.PUBLIC_URL = "https://share.example.com/data"

        found = files(acme.query(lake.path))

        ids = {hashlib.md5(path.encode()).hexdigest() for path in lake.paths}  # noqa: S324 (the protocol's)
        assert {file["id"] for file in found} == ids
        for file in found:
            path = f"/delta-sharing/files/Sales/{lake.shared.id}/day%3D"
            assert file["url"].startswith(f"https://share.example.com/data{path}")
            assert json.loads(file["stats"])["numRecords"] == 10
            expires_at = datetime.fromtimestamp(file["expirationTimestamp"] / 1000, UTC)
            left = (expires_at - datetime.now(UTC)).total_seconds()
            assert 3500 < left <= 3600
            assert set(file) == {
                *("url", "id", "partitionValues", "size", "stats"),
                "expirationTimestamp",
            }

    def test_urls_do_not_outlive_the_token(self, acme, lake, settings):
        settings.FILE_URL_LIFETIME_S = 7 * 86_400

        found = files(acme.query(lake.path))

        ends_at = int(acme.token.expires_at.timestamp())
        assert {file["expirationTimestamp"] for file in found} == {ends_at * 1000}

    @pytest.mark.parametrize(
        "named", [{"version": 2}, {"timestamp": "2026-02-01T02:30:00Z"}]
    )
    def test_of_a_named_version_tells_it_with_each_file(self, acme, lake, named):
        answer = acme.query(lake.path, named)

        assert answer["Delta-Table-Version"] == "2"
        found = files(answer)
        assert sorted(file["partitionValues"]["day"] for file in found) == [*DAYS[:2]]
        assert {file["version"] for file in found} == {2}
        made_at = int(commit_time(2).timestamp() * 1000)
        assert {file["timestamp"] for file in found} == {made_at}

    def test_of_a_table_without_files_is_two_lines(self, acme: Caller, lake: Lake):
        assert len(lines(acme.query(lake.path, {"version": 0}))) == 2

    @cases(
        "body",
        {
            "nothing": {},
            "no hints": {"predicateHints": []},
            "nulls": {"predicateHints": None, "limitHint": None},
            "unknown fields": {
                "idempotency_key": "x",
                "fileIdHash": "y",
                "other": [{}],
            },
            "a limit beyond all": {"limitHint": 2**70},
        },
    )
    def test_offers_every_file(self, acme: Caller, lake: Lake, body: dict[str, object]):
        assert days(acme.query(lake.path, body)) == [*DAYS]

    def test_reads_any_content_type(self, acme: Caller, lake: Lake) -> None:
        for content_type in ("text/plain", "application/x-www-form-urlencoded", "%"):
            answer = acme.query(lake.path, Content_Type=content_type)
            assert answer.status_code == 200

    def test_answers_whatever_is_accepted(self, acme: Caller, lake: Lake) -> None:
        for accept in ("text/html", "image/png", "application/x-ndjson", ";;", ""):
            answer = acme.query(f"{lake.path}", Accept=accept)
            assert answer.status_code == 200
        assert acme.get("/shares?format=csv").status_code == 200


class TestHints:
    @cases(
        "hints, expected",
        {
            "a partition": (["day = '2026-01-02'"], ["2026-01-02"]),
            "two": (["day >= DATE '2026-01-02'", "day < '2026-01-03'"], ["2026-01-02"]),
            "statistics": (["id > 100"], []),
        },
    )
    def test_prune_files(self, acme, lake, hints, expected):
        answer = acme.query(lake.path, {"predicateHints": hints})

        assert days(answer) == expected

    def test_that_select_nothing_are_counted(self, acme: Caller, lake: Lake) -> None:
        hints = ["day = '2026-01-02'", "no such thing", "day ~~~ 1"]

        answer = acme.query(lake.path, {"predicateHints": hints})

        assert answer["deltaweb-skipped-hints"] == "2"
        assert days(answer) == ["2026-01-02"]

    def test_come_as_json_too(self, acme: Caller, lake: Lake) -> None:
        tree = {
            "op": "equal",
            "children": [
                {"op": "column", "name": "day", "valueType": "date"},
                {"op": "literal", "value": "2026-01-03", "valueType": "date"},
            ],
        }

        answer = acme.query(lake.path, {"jsonPredicateHints": json.dumps(tree)})

        assert days(answer) == ["2026-01-03"]

    def test_limit_comes_after_the_others(self, acme: Caller, lake: Lake) -> None:
        hints = {"predicateHints": ["day >= '2026-01-02'"], "limitHint": 10}

        assert len(files(acme.query(lake.path, hints))) == 1
        assert len(files(acme.query(lake.path, {"limitHint": 11}))) == 2
        every = days(acme.query(lake.path, {}))
        assert days(acme.query(lake.path, {"limitHint": 0})) == every

    def test_of_a_column_whose_type_is_not_known_select_nothing(self, acme, lake):
        schema = typed_schema(id="long", day="date", span="interval day to second")
        fields = {"schemaString": schema, "partitionColumns": ["day"]}
        lake.commit(metadata(**fields))
        hints = {"predicateHints": ["span > 5", "day = '2026-01-02'"]}

        answer = acme.query(lake.path, hints)

        assert days(answer) == ["2026-01-02"]
        assert answer["deltaweb-skipped-hints"] == "1"
        _, told = lines(acme.get(f"{lake.path}/metadata"))
        assert json.loads(told["metaData"]["schemaString"]) == json.loads(schema)

    def test_limit_ends_nothing_where_a_hint_is_not_understood(self, acme, lake):
        every = len(files(acme.query(lake.path, {})))
        hints = {"predicateHints": ["no such thing"], "limitHint": 1}

        assert len(files(acme.query(lake.path, hints))) == every > 1

    def test_a_negative_limit_is_refused(self, acme: Caller, lake: Lake) -> None:
        refused(acme.query(lake.path, {"limitHint": -1}))


class TestBody:
    @cases(
        "body",
        {
            "empty": b"",
            "deep and half": b'{"a": ' * 100_000,
            "deep objects": b'{"x": ' * 50_000 + b"1" + b"}" * 50_000,
            "not UTF-8": b'{"a": "\xff\xfe"}',
            "too many digits": b'{"version": ' + b"9" * 5000 + b"}",
        },
    )
    def test_that_is_no_object_is_refused(self, acme: Caller, lake: Lake, body: bytes):
        refused(acme.ask("POST", f"{lake.path}/query", body), MALFORMED)

    def test_that_is_too_large_is_refused(self, acme: Caller, lake: Lake) -> None:
        body = b'{"x": "' + b"x" * MAX_BODY_BYTES + b'"}'

        refused(acme.ask("POST", f"{lake.path}/query", body), MALFORMED, 413)

    @cases(
        "body",
        {
            "doubled keys": b'{"limitHint": 1, "limitHint": 100}',
            "a mark of the byte order": b'\xef\xbb\xbf{"x": 1}',
            "half characters": b'{"predicateHints": ["\\ud800", "\\u0000 = 1"]}',
            "a broken tree": b'{"jsonPredicateHints": "\\udfff{"}',
        },
    )
    def test_that_is_odd_is_read(self, acme: Caller, lake: Lake, body: bytes) -> None:
        answer = acme.ask("POST", f"{lake.path}/query", body)

        assert answer.status_code == 200
        assert len(files(answer)) == 3


class TestPartitionFilter:
    def test_is_enforced(self, acme: Caller, lake: Lake) -> None:
        share_with(lake, condition="day >= '2026-01-02'")

        assert days(acme.query(lake.path)) == [*DAYS[1:]]
        hints = {"predicateHints": ["day = '2026-01-01'"]}
        assert days(acme.query(lake.path, hints)) == []
        assert days(acme.query(lake.path, {"version": 1})) == []
        told = lines(acme.get(f"{lake.path}/metadata"))[1]["metaData"]
        assert not told.keys() & {"size", "numFiles"}

    @pytest.mark.parametrize(
        "sql", ["nonsense ~~", "other = 'x'", "CAST(day AS INT) = 1"]
    )
    def test_that_does_not_fit_offers_nothing(self, acme: Caller, lake: Lake, sql: str):
        share_with(lake, condition=sql)

        assert sql not in refused(acme.query(lake.path), "UNSUPPORTED_OPERATION")
        assert acme.get(f"{lake.path}/version").status_code == 400
