import contextlib
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.sharing.errors import (
    ParameterInvalidError,
    RequestMalformedError,
    SharingError,
)
from deltaweb.sharing.parameters import MAX_LONG
from deltaweb.sharing.table_query import (
    ChangesQuery,
    TableQuery,
    parse_changes_query,
    parse_table_query,
)

numbers = st.integers() | st.sampled_from([-1, 0, 1, MAX_LONG, MAX_LONG + 1])
values = st.none() | st.booleans() | numbers | st.floats() | st.text(max_size=5)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "predicateHints": values | st.lists(values, max_size=2),
        "jsonPredicateHints": values,
        "limitHint": numbers | values,
        "version": numbers | values,
        "timestamp": st.just("2026-01-31T12:00:00Z") | values,
    },
).map(lambda fields: json.dumps(fields).encode())


def parsed(**fields: object) -> TableQuery:
    return parse_table_query(json.dumps(fields).encode())


class TestParseTableQuery:
    def test_of_nothing_asks_for_everything(self) -> None:
        assert parsed() == TableQuery()

    def test_reads_every_field(self) -> None:
        assert parsed(
            predicateHints=["a = 1", "b = 2"],
            jsonPredicateHints="{}",
            limitHint=10,
            version=3,
        ) == TableQuery(
            predicate_hints=("a = 1", "b = 2"),
            json_predicate_hints="{}",
            limit_hint=10,
            version=3,
        )
        assert parsed(timestamp="2026-01-31T12:00:00Z") == TableQuery(
            timestamp=datetime(2026, 1, 31, 12, tzinfo=UTC)
        )

    def test_takes_null_for_missing(self) -> None:
        names = ("predicateHints", "limitHint", "version", "timestamp", "endingVersion")

        assert parsed(**dict.fromkeys(names)) == TableQuery()

    def test_cuts_a_limit_beyond_a_long(self) -> None:
        assert parsed(limitHint=2**80).limit_hint == MAX_LONG

    @pytest.mark.parametrize("written", [b"10", b"10.0", b"1e1", b'"10"', b'"10.0"'])
    @pytest.mark.parametrize("name", ["limitHint", "version", "maxFiles"])
    def test_takes_numbers_as_json_of_protobuf_writes_them(self, name, written):
        query = parse_table_query(b'{"%s": %s}' % (name.encode(), written))

        found = (query.limit_hint, query.version, query.page.max_files)
        assert [number for number in found if number is not None] == [10]

    def test_takes_an_empty_refresh_token_for_none(self) -> None:
        query = parsed(version=0, refreshToken="", pageToken="", limitHint=None)

        assert (query.version, query.page.refresh_token) == (0, "")

    @pytest.mark.parametrize("number", [2**53 + 1, MAX_LONG])
    def test_reads_a_version_exactly(self, number: int) -> None:
        query = parse_table_query(b'{"version": %d.0}' % number)

        assert query.version == number

    @pytest.mark.parametrize("zero", [0, 0.0, "0", -0.0])
    def test_takes_a_limit_of_zero_for_none(self, zero: object) -> None:
        assert parsed(predicateHints=[""], limitHint=zero).limit_hint is None

    @pytest.mark.parametrize("exponent", [b"999", b"999999999", b"9" * 30])
    @pytest.mark.parametrize("name", [b"version", b"startingVersion"])
    def test_refuses_numbers_that_would_fill_the_memory(self, name, exponent):
        with pytest.raises(SharingError):
            parse_table_query(b'{"%s": 1e%s, "x": 1e-%s}' % (name, exponent, exponent))

    def test_takes_a_start_for_a_stream_of_versions(self) -> None:
        query = parsed(startingVersion=3, endingVersion=5)

        assert query == TableQuery(
            changes=ChangesQuery(
                starting_version=3,
                ending_version=5,
                with_feed=False,
                with_old_metadata=True,
            )
        )

    def test_ignores_an_end_without_a_start(self) -> None:
        assert parsed(endingVersion=5) == TableQuery()

    @pytest.mark.parametrize(
        "fields",
        [
            {"predicateHints": "day = 1"},
            *({"predicateHints": [hint]} for hint in (1, None)),
            {"predicateHints": {}},
            *({"limitHint": limit} for limit in ("", "ten", True, 1.5, [1])),
            *({"startingVersion": version} for version in ("1.5", 1.5, True)),
            *({"maxFiles": count} for count in (" 10", 1.5, True)),
            *({"version": version} for version in ("", "1.5", 1.5, False)),
            {"jsonPredicateHints": {}},
            {"timestamp": 0},
            {"pageToken": 7},
            {"refreshToken": ["x"]},
        ],
        ids=str,
    )
    def test_refuses_a_value_of_another_type(self, fields: dict[str, object]) -> None:
        (name,) = fields

        with pytest.raises(RequestMalformedError, match=name):
            parsed(**fields)

    @pytest.mark.parametrize(
        "fields",
        [
            {"version": 1, "timestamp": "2026-01-31T12:00:00Z"},
            {"version": 1, "startingVersion": 1},
            {"timestamp": "x", "startingVersion": 1},
        ],
    )
    def test_refuses_two_versions(self, fields: dict[str, object]) -> None:
        with pytest.raises(ParameterInvalidError, match="is also given"):
            parsed(**fields)

    @pytest.mark.parametrize(
        "body",
        [
            *(b"", b" ", b"[]", b"1", b"{", b"null", b'"text"', b"{} {}", b"\xff"),
            *(b'{"a": NaN}', b'{"a": Infinity}', b'{"a": "\x00"}', b"[" * 100_000),
        ],
    )
    def test_refuses_what_is_no_object(self, body: bytes) -> None:
        with pytest.raises(RequestMalformedError):
            parse_table_query(body)

    @given(body=st.binary() | bodies)
    def test_refuses_bytes_by_an_error_of_its_own(self, body: bytes) -> None:
        query = TableQuery()
        with contextlib.suppress(SharingError):
            query = parse_table_query(body)

        assert query.version is None or 0 <= query.version <= MAX_LONG
        assert query.version is None or query.timestamp is None
        assert query.limit_hint is None or 0 <= query.limit_hint <= MAX_LONG
        assert all(isinstance(hint, str) for hint in query.predicate_hints)


class TestChangesQuery:
    def test_takes_versions(self) -> None:
        query = parse_changes_query(
            {"startingVersion": "1", "endingVersion": "2", "x": "y"}
        )

        assert query == ChangesQuery(starting_version=1, ending_version=2)

    def test_takes_times_and_what_else_is_wanted(self) -> None:
        query = parse_changes_query(
            {
                "startingTimestamp": "2026-01-31T12:00:00Z",
                "includeHistoricalMetadata": "True",
                "includeHistoricalProtocol": "true",
            }
        )

        assert query == ChangesQuery(
            starting_timestamp=datetime(2026, 1, 31, 12, tzinfo=UTC),
            with_old_metadata=True,
            with_old_protocol=True,
        )

    @pytest.mark.parametrize(
        ("parameters", "name"),
        [
            ({}, "startingVersion"),
            ({"endingVersion": "1"}, "startingVersion"),
            ({"startingVersion": "-1"}, "startingVersion"),
            ({"startingVersion": "1", "endingVersion": "x"}, "endingVersion"),
            ({"startingTimestamp": "now"}, "startingTimestamp"),
            (
                {"startingVersion": "1", "startingTimestamp": "2026-01-31T12:00:00Z"},
                "startingTimestamp",
            ),
        ],
    )
    def test_refuses_what_names_no_range(self, parameters: dict[str, str], name: str):
        with pytest.raises(ParameterInvalidError) as caught:
            parse_changes_query(parameters)

        assert caught.value.name == name
