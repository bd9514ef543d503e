"""Attacks on what a rule hides: two tables that differ in hidden values alone are one.

Whatever a recipient asks, of the twin it gets the same answers: hidden rows cannot be
told from others, nor from rows that are not there, nor hidden columns from other ones.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest
from django.test import override_settings
from hypothesis import HealthCheck, given, strategies
from hypothesis import settings as hypothesis_settings
from pytest_django import Settings

from apps.sharing.models import SharedTable
from deltaweb.delta.features.change_feed import CHANGE_DATA_FEED_PROPERTY
from deltaweb.table import DeltaTable
from tests.functional.iceberg_api.reading import load
from tests.functional.sharing_api.calls import Answer, Caller, body_of, lines
from tests.functional.sharing_api.conftest import caller_of
from tests.functional.sharing_api.ruled import DELTA, SCHEMA, Ruled, rows
from tests.support.conditions.drawn_examples import examples
from tests.support.pages.factories import new_share, new_shared_table, new_table

IN_DELTA: Final = {
    "delta-sharing-capabilities": f"{DELTA};includeEndStreamAction=true",
}
# What is of a table, and not of its rows.
OWN: Final = frozenset(
    {"id", "url", "path", "expirationTimestamp", "modificationTime", "createdTime"}
    | {"timestamp", "minUrlExpirationTimestamp", "refreshToken", "nextPageToken"}
)
HIDDEN: Final = ("secret-a", "secret-b", "salary")
RULE: Final = "region = 'EU'"
COLUMNS: Final = ("id", "region", "note")


def _hidden(first: int, count: int, word: str, salary: int) -> pa.Table:
    """Rows that no rule of these tests shows."""
    found = rows(first, count, "US", word).to_pydict()
    found["salary"] = [salary + one for one in range(count)]
    return pa.table(found, SCHEMA)


def _shown(first: int, count: int, salary: int) -> pa.Table:
    """Rows that are shown, of which the salary is not."""
    found = rows(first, count, "EU").to_pydict()
    found["salary"] = [salary - one for one in range(count)]
    return pa.table(found, SCHEMA)


def _write(root, *, first, counts, word, salary):
    """A table of files inside, outside and on the border, and of some versions."""
    table = DeltaTable.create(
        str(root), SCHEMA, properties={CHANGE_DATA_FEED_PROPERTY: "true"}
    )
    table.append(_shown(0, 5, salary))
    table.append(_hidden(first, counts[0], word, salary))
    table.append(
        pa.concat_tables(
            [_shown(10, 3, salary), _hidden(first + 100, counts[1], word, salary)]
        )
    )
    return table


def _go_on(table, *, first, counts, word, salary):
    """Later versions: of hidden rows, of hidden columns, and of rows that are shown."""
    table.append(_hidden(first + 200, counts[0], word, salary))
    table.update({"salary": f"salary + {salary}"}, "id < 3")
    table.delete(f"id = {first}")
    table.append(
        pa.concat_tables(
            [_shown(20, 2, salary), _hidden(first + 300, counts[1], word, salary)]
        )
    )


TWINS: Final[dict[str, dict[str, Any]]] = {
    "a": {"first": 40, "counts": (5, 2), "word": "secret-a", "salary": 70_000},
    "b": {"first": 900, "counts": (1, 9), "word": "secret-b", "salary": 90_000},
}


Twins = list[tuple[Ruled, Caller]]


@pytest.fixture(scope="module")
def prepared(
    module_db: None,  # noqa: ARG001 (a database)
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, Twins]:
    """The tables, prepared, gone on with, prepared again; and who reads each."""
    place = tmp_path_factory.mktemp("twins")
    found = []
    with override_settings(HOME=place, PREPARED_FILES=str(place / "prepared")):
        for name, facts in TWINS.items():
            made = _write(place / "lake" / name, **facts)
            table = new_table(f"hr.{name}", location=made.root, version=7)
            shared = new_shared_table(new_share(name), "hr.staff", table=table)
            ruled = Ruled(made, shared)
            ruled.rule(RULE, *COLUMNS)
            caller = caller_of(f"to-{name}", shared.share)
            ruled.prepare()
            _go_on(made, **facts)
            ruled.prepare()
            found.append((ruled, caller))
    return place, found


@pytest.fixture
def twins(
    prepared: tuple[Path, Twins],
    db: None,  # noqa: ARG001 (what a test changes is rolled back)
    settings: Settings,
) -> Twins:
    """The same, of which nothing was served yet."""
    place, found = prepared
    settings.PREPARED_FILES = str(place / "prepared")
    return [(replace(ruled, bytes_served=[]), caller) for ruled, caller in found]


def _plain(value: object, own: frozenset[str] = OWN) -> object:
    """What an answer says without what is of the table itself, or of a time."""
    if isinstance(value, Mapping):
        told = {name: one for name, one in value.items() if name not in own}
        return {name: _plain(one, own) for name, one in told.items()}
    if isinstance(value, list):
        return [_plain(one, own) for one in value]
    return value


def _answer(ruled: Ruled, answer: Answer) -> tuple[int, list[str]]:
    body = body_of(answer)
    assert not [text for text in HIDDEN if text.encode() in body]
    text = body.decode().replace(f"/shares/{ruled.shared.share.name}/", "/shares/-/")
    told = [json.dumps(_plain(json.loads(line))) for line in text.splitlines()]
    return answer.status_code, sorted(told)


VALUES: Final = ["0", "11", "14", "41", "901", "69999", "'EU'", "'US'", "'secret-a-40'"]
HINTS: Final = strategies.builds(
    "{} {} {}".format,
    strategies.sampled_from(["id", "region", "note", "salary", "nothing"]),
    strategies.sampled_from(["=", "<", ">=", "<>"]),
    strategies.sampled_from(VALUES),
)
QUERIES: Final = strategies.fixed_dictionaries(
    {},
    optional={
        "predicateHints": strategies.lists(HINTS, min_size=1, max_size=2),
        "version": strategies.integers(0, 8),
        "includeRefreshToken": strategies.just(value=True),
        "jsonPredicateHints": strategies.sampled_from(
            [
                json.dumps(
                    {
                        "op": "equal",
                        "children": [
                            {"op": "column", "name": name, "valueType": "long"},
                            {"op": "literal", "value": value, "valueType": "long"},
                        ],
                    }
                )
                for name in ("id", "salary")
                for value in ("11", "41", "69999")
            ]
        ),
    },
)


def test_no_query_tells_hidden_rows_from_others(twins) -> None:
    @hypothesis_settings(
        max_examples=examples(25),
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(QUERIES)
    def ask(query: dict[str, Any]) -> None:
        one, other = (
            _answer(ruled, caller.query(ruled.path, query, **IN_DELTA))
            for ruled, caller in twins
        )
        assert one == other

    ask()


def test_no_other_answer_does(twins) -> None:
    paths = [
        "metadata",
        "version",
        *(f"changes?startingVersion={first}" for first in (0, 3, 4, 5, 7, 8)),
        "changes?startingVersion=4&maxFiles=1",
        "changes?startingVersion=4&includeHistoricalMetadata=true",
    ]
    for path, headers in product(paths, [{}, IN_DELTA]):
        answers = [
            (caller.get(f"{ruled.path}/{path}", **headers), ruled)
            for ruled, caller in twins
        ]

        one, other = (_answer(ruled, answer) for answer, ruled in answers)
        versions = {answer.headers.get("Delta-Table-Version") for answer, _ in answers}

        assert one == other, path
        assert len(versions) == 1


def test_a_limit_counts_rows_that_are_shown_alone(twins) -> None:
    for limit, (ruled, caller) in product([1, 4, 9], twins):
        told = lines(caller.query(ruled.path, {"limitHint": limit}, **IN_DELTA))
        adds = [
            line["file"]["deltaSingleAction"]["add"] for line in told if "file" in line
        ]
        rows_told = [json.loads(add["stats"])["numRecords"] for add in adds]
        assert sorted(rows_told) in [[2], [3], [5], [2, 3], [2, 5], [3, 5], [2, 3, 5]]
        assert sum(rows_told) >= limit > sum(rows_told) - max(rows_told)


def test_files_of_twins_are_alike_to_the_byte(twins) -> None:
    served: list[list[bytes]] = []
    for ruled, caller in twins:
        answers = [caller.query(ruled.path, {}, **IN_DELTA)]
        answers.append(
            caller.get(f"{ruled.path}/changes?startingVersion=4", **IN_DELTA)
        )
        told = [line.get("file", {}) for one in answers for line in lines(one)]
        found = [
            ruled.fetch(caller, action["path"])
            for file in told
            for action in file.get("deltaSingleAction", {}).values()
        ]
        served.append(sorted(found))
        assert ruled.has_served(*HIDDEN) == []

    assert served[0] == served[1]
    assert len(served[0]) > 2


def test_no_token_from_before_a_rule_goes_on_under_it(twins) -> None:
    ruled, caller = twins[0]
    ruled.rule("")
    asked = {"maxFiles": 1, "includeRefreshToken": True}
    first = lines(caller.query(ruled.path, asked, **IN_DELTA))[-1]["endStreamAction"]
    again = lines(caller.query(ruled.path, {"includeRefreshToken": True}, **IN_DELTA))[
        -1
    ]["endStreamAction"]
    of_changes = lines(
        caller.get(f"{ruled.path}/changes?startingVersion=0&maxFiles=1", **IN_DELTA)
    )[-1]["endStreamAction"]
    ruled.rule(RULE, *COLUMNS)

    token = of_changes["nextPageToken"]
    answers = [
        caller.query(
            ruled.path, {**asked, "pageToken": first["nextPageToken"]}, **IN_DELTA
        ),
        caller.query(
            ruled.path,
            {"includeRefreshToken": True, "refreshToken": again["refreshToken"]},
            **IN_DELTA,
        ),
        caller.get(
            f"{ruled.path}/changes?startingVersion=0&maxFiles=1&pageToken={token}",
            **IN_DELTA,
        ),
    ]

    assert [400 <= answer.status_code < 500 for answer in answers] == [True] * 3
    assert not [text for text in HIDDEN for one in answers if text in str(body_of(one))]


TOLD_OF_FILES: Final = (
    *("content", "record_count", "file_size_in_bytes", "partition", "lower_bounds"),
    *("upper_bounds", "value_counts", "null_value_counts", "nan_value_counts"),
)
OF_SNAPSHOT: Final = frozenset(
    {"table-uuid", "location", "snapshot-id", "current-snapshot-id", "manifest-list"}
    | {"last-updated-ms", "timestamp-ms"}
)
"""What is of a table in the metadata of Iceberg, or of a time."""


def test_the_catalogue_of_iceberg_does_not(twins) -> None:
    told = []
    for ruled, caller in twins:
        share = ruled.shared.share.name
        loaded = load(caller, f"/v1/namespaces/{share}%1Fhr/tables/staff")
        metadata = _plain(loaded.metadata, OF_SNAPSHOT)
        files = [
            repr([_plain(getattr(file, name)) for name in TOLD_OF_FILES])
            for file in loaded.files()
        ]
        rows = loaded.rows()
        assert rows == ruled.rows(caller)
        assert not [text for text in HIDDEN if text.encode() in loaded.read_all()]
        data = [loaded.objects[file.file_path] for file in loaded.files()]
        told.append((metadata, sorted(files), rows, sorted(data)))

    assert told[0] == told[1]
    assert len(told[0][-1]) > 2


def test_no_folder_leads_around_a_rule(twins) -> None:
    ruled, caller = twins[0]
    SharedTable.objects.update(with_directory=True)
    folder = caller.ask("POST", f"{ruled.path}/temporary-table-credentials", b"{}")
    later = {"delta-sharing-capabilities": f"{DELTA};asyncquery=true"}
    asked = caller.query(ruled.path, {}, **later)

    assert 400 <= folder.status_code < 500
    assert asked.status_code == 200  # the part itself: no job has the whole
    told = [body_of(one) for one in (folder, asked)]
    assert not [text for text in HIDDEN if text.encode() in b"".join(told)]
