"""Values of a recipient in a condition: they are literals, and never read as SQL."""

import pyarrow as pa
import pytest

from deltaweb.conditions.recipients import (
    Property,
    asked_properties,
    bound_to,
    is_never_true,
)
from deltaweb.conditions.sql_text import parse_sql
from deltaweb.delta.errors import PredicateError
from deltaweb.delta.protocol.schema import schema_of_arrow

SCHEMA = schema_of_arrow(pa.schema([("n", pa.int64()), ("region", pa.string())]))


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        ("EU", "'EU'"),
        ("x' OR '1' = '1", "'x'' OR ''1'' = ''1'"),
        ("", "''"),
        (7, "7"),
        (-7, "-7"),
        (0, "0"),
        (True, "TRUE"),
        (False, "FALSE"),
        (None, "NULL"),
    ],
)
def test_a_value_is_a_literal_of_its_own_type(value: Property | None, literal: str):
    values = {} if value is None else {"area": value}

    bound = bound_to(parse_sql("region = recipient.area"), values, SCHEMA)

    assert bound.tree.sql() == f"region = {literal}"


def test_names_count_in_any_case_and_every_place_is_filled() -> None:
    condition = parse_sql("region = Recipient.AREA OR (n > 1 AND recipient.Area > 'a')")

    assert asked_properties(condition) == {"area"}
    assert bound_to(condition, {"area": "EU"}, SCHEMA).tree.sql() == (
        "region = 'EU' OR (n > 1 AND 'EU' > 'a')"
    )


def test_a_column_called_recipient_makes_the_condition_ambiguous() -> None:
    struct = pa.struct([("area", pa.string())])
    schema = schema_of_arrow(pa.schema([("recipient", struct), ("n", pa.int64())]))

    with pytest.raises(PredicateError, match="'recipient' is a column of the table"):
        bound_to(parse_sql("recipient.area = 'EU'"), {"area": "EU"}, schema)


def test_a_condition_without_such_values_stays_the_same() -> None:
    condition = parse_sql("region = 'recipient.area' AND other.recipient = 1")

    assert asked_properties(condition) == frozenset()
    assert bound_to(condition, {"area": "EU"}, SCHEMA) is condition


@pytest.mark.parametrize(
    ("condition", "shows_nothing"),
    [
        ("region = recipient.region", True),
        ("recipient.region = region AND n > 3", True),
        ("n > 3 AND (region < recipient.region)", True),
        ("region = recipient.region OR n > 3", False),
        ("region <=> recipient.region", False),
        ("recipient.region IS NULL", False),
        ("NOT (region = recipient.region)", False),
        ("region = coalesce(recipient.region, 'EU')", False),
    ],
)
def test_a_missing_property_shows_nothing_only_where_no_row_can_match(
    condition, shows_nothing
) -> None:
    bound = bound_to(parse_sql(condition), {}, SCHEMA)

    assert is_never_true(bound) == shows_nothing
