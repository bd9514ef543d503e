"""What the Spark connector sends, replayed.

The requests are those of version 1.4.1 on Spark 4.1, as captured: its headers, its
bodies with fields that the specification lacks, and Catalyst's spelling of conditions.
"""

import json
from typing import Any

import pytest

from tests.functional.sharing_api.calls import DAYS, Answer, Caller, Lake, days
from tests.functional.sharing_api.ends import end_of, head_of, ids_of
from tests.support import cases
from tests.support.conditions.hint_cases import column, literal, op

HEADERS: dict[str, Any] = {
    "User-Agent": "Delta-Sharing-Spark/1.4.1 QueryId-af6ac0c5-0dc2-4d4b-8d59-0f3c2b0d"
    " Hadoop/3.4.2 Linux/6.1.0 Scala/2.13.17 java/17.0.15",
    "delta-sharing-capabilities": "responseformat=parquet",
    "Content-type": "application/json",
}
DAY, OTHER = column("day", "date"), literal(DAYS[1], "date")
JSON_HINT = json.dumps(op("and", op("not", op("isNull", DAY)), op("equal", DAY, OTHER)))
SQL_HINT = f"(CAST(partitionValues.day AS DATE) = DATE '{DAYS[1]}')"


def asked(caller: Caller, lake: Lake, *hints: str, **fields: object) -> Answer:
    """A query with the fields that the connector always adds."""
    body = {
        "predicateHints": list(hints),
        "limitHint": None,
        "includeRefreshToken": True,
        "refreshToken": None,
        "idempotency_key": None,
        **fields,
    }
    return caller.query(lake.path, body, **HEADERS)


@cases(
    "hint, fields",
    {
        "in SQL": (SQL_HINT, {}),
        "in JSON": (None, {"jsonPredicateHints": JSON_HINT}),
        "in both": (SQL_HINT, {"jsonPredicateHints": JSON_HINT}),
        "of an older connector": (f"(`day` = DATE '{DAYS[1]}')", {}),
        "or null": (f"({SQL_HINT} OR (CAST(partitionValues.day AS DATE) IS NULL))", {}),
        "denied": (
            (
                f"(NOT ((CAST(partitionValues.day AS DATE) < DATE '{DAYS[1]}') OR"
                f" (CAST(partitionValues.day AS DATE) > DATE '{DAYS[1]}')))"
            ),
            {},
        ),
        "in a list": (f"(CAST(partitionValues.day AS DATE) IN (DATE '{DAYS[1]}'))", {}),
    },
)
def test_conditions_in_the_spelling_of_catalyst_prune(acme, lake, hint, fields):
    hints = [] if hint is None else [hint]

    assert days(asked(acme, lake, *hints, **fields)) == [DAYS[1]]


def test_urls_are_made_anew_as_the_connector_asks_for_it(acme, lake) -> None:
    """Its second request leaves the hints out, and asks for the same version."""
    token = end_of(asked(acme, lake, SQL_HINT))["refreshToken"]

    again = asked(acme, lake, refreshToken=token)

    assert days(again) == [*DAYS]
    assert end_of(again)["refreshToken"]


@pytest.mark.parametrize("fields", [{"maxFiles": 1, "version": 2}, {"maxFiles": 2}])
def test_pages_are_fetched_as_the_connector_does(acme, lake, fields) -> None:
    """It compares the first two lines as texts, and asks again without a refresh."""
    page = asked(acme, lake, **fields)
    head, found = head_of(page), ids_of(page)
    while token := end_of(page).get("nextPageToken"):
        page = asked(acme, lake, **fields, pageToken=token, includeRefreshToken=None)
        assert head_of(page) == head
        found += ids_of(page)

    assert found == ids_of(asked(acme, lake, **{**fields, "maxFiles": None}))
