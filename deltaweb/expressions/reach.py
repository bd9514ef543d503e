"""What a condition in SQL says of whole files."""

from deltaweb.conditions.hints import parsed_hint
from deltaweb.conditions.sql_text import SQLText
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.predicate import And, Predicate
from deltaweb.delta.values.time_zones.known import UTC_ZONE, zone_rules


def reach_of(
    condition: SQLText, schema: StructType, time_zone: str = UTC_ZONE
) -> Predicate | None:
    """Return what holds wherever a condition does; None where nothing is known.

    It is read as hints of clients are: no row is lost that Spark would find.

    Args:
        condition: The condition, parsed.
        schema: The schema of the rows.
        time_zone: Whose clocks show the times without a zone.
    """
    predicates = parsed_hint(condition, schema, zone_rules(time_zone)).predicates
    if not predicates:
        return None
    return predicates[0] if len(predicates) == 1 else And(predicates)
