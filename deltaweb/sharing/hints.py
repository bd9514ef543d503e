"""The hints of a query, as conditions that never lose a matching row.

A client sends SQL texts, a tree of operations as JSON, or both, and applies the whole
condition itself to what it gets. So a hint may only ever be read too loosely: one
that is not understood is skipped, alone, and says why.
"""

from dataclasses import dataclass

from deltaweb.delta.errors import PredicateError
from deltaweb.delta.predicate import Predicate
from deltaweb.delta.schema import StructType
from deltaweb.sharing.predicates import parse_predicate

MAX_TEXT_SHOWN = 200
"""Characters of a skipped hint that are kept to show it."""


@dataclass(frozen=True)
class SkippedHint:
    """A hint, or a part of one, that selects nothing.

    Attributes:
        text: The hint, cut to a line.
        reason: Why it is skipped, as half a sentence.
    """

    text: str
    reason: str


@dataclass(frozen=True)
class Hints:
    """What a query's hints came to.

    Attributes:
        predicates: Conditions that every row the client wants fulfils; all apply.
        skipped: What was not understood.
    """

    predicates: tuple[Predicate, ...] = ()
    skipped: tuple[SkippedHint, ...] = ()


def parse_hints(
    *, predicate_hints: object, json_predicate_hints: object, schema: StructType
) -> Hints:
    """Parse the hints of a query; whatever they are, nothing is raised.

    Args:
        predicate_hints: The request's `predicateHints`, SQL texts.
        json_predicate_hints: The request's `jsonPredicateHints`, JSON in a text.
        schema: The table's schema.
    """
    predicates: list[Predicate] = []
    skipped: list[SkippedHint] = []
    texts = predicate_hints if isinstance(predicate_hints, list | tuple) else ()
    for text in texts:
        try:
            predicates.append(parse_predicate(text, schema))
        except (PredicateError, TypeError, AttributeError) as error:
            skipped.append(SkippedHint(repr(text)[:MAX_TEXT_SHOWN], str(error)))
    if json_predicate_hints is not None:
        shown = repr(json_predicate_hints)[:MAX_TEXT_SHOWN]
        skipped.append(SkippedHint(shown, "it is not read yet"))
    return Hints(tuple(predicates), tuple(skipped))
