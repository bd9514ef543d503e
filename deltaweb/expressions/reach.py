"""What a condition in SQL says of whole files."""

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.predicate import And, Predicate
from deltaweb.sharing.conditions.hints import parsed_hint
from deltaweb.sharing.conditions.sql_text import SQLText


def reach_of(condition: SQLText, schema: StructType) -> Predicate | None:
    """Return what holds wherever a condition does; None where nothing is known.

    It is read as hints of clients are: no row is lost that Spark would find.
    """
    predicates = parsed_hint(condition, schema).predicates
    if not predicates:
        return None
    return predicates[0] if len(predicates) == 1 else And(predicates)
