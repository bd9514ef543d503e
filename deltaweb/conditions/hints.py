"""The hints of a query, as conditions that never lose a matching row.

A client sends SQL texts, a tree of operations as JSON, or both, and applies the whole
condition itself to what it gets. So a hint may only ever be read too loosely: one
that is not understood is skipped, alone, and says why.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from deltaweb.conditions import json, sql, tree
from deltaweb.conditions.bounds import Bounds, all_of, count_comparisons
from deltaweb.conditions.sql_text import MAX_TOKENS, SQLText, parse_sql
from deltaweb.conditions.widen import widen
from deltaweb.delta.errors import PredicateError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.predicate import NOTHING, And, Constant, Predicate
from deltaweb.delta.values.time_zones.known import UTC_ZONE, zone_rules
from deltaweb.delta.values.time_zones.rules import ZoneRules

MAX_HINTS = 1_000
MAX_SQL_CHARACTERS = 100_000
"""Characters of all SQL hints of a query; those that fail to parse count too."""

MAX_COMPARISONS = 512
"""Comparisons of all hints; each looks at every file of the table."""

MAX_TEXT_SHOWN = 200
"""Characters of a skipped hint that are kept to show it."""

P = TypeVar("P")
Part: TypeAlias = tuple[str, Bounds | PredicateError]
"""The text of a part of a hint, and what it means or why it is skipped."""

_FAULTS = (
    PredicateError,
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    AssertionError,
)
"""What a parser may raise over a text that nobody foresaw; RecursionError is one."""


@dataclass(frozen=True)
class SkippedHint:
    """A hint, or a part of one, that selects nothing."""

    text: str
    reason: str


@dataclass(frozen=True)
class Hints:
    """What a query's hints came to.

    Attributes:
        predicates: Conditions that every row the client wants fulfils; all apply.
        misses: A condition that holds for every row that the client may not want: for
            any row at all where a hint was not understood.
    """

    predicates: tuple[Predicate, ...] = ()
    misses: Predicate = NOTHING
    skipped: tuple[SkippedHint, ...] = ()

    @property
    def reach(self) -> Predicate | None:
        """All the predicates as one; None without any."""
        if len(self.predicates) > 1:
            return And(self.predicates)
        return self.predicates[0] if self.predicates else None


def parse_hints(
    *, predicate_hints: object, json_predicate_hints: object, schema: StructType
) -> Hints:
    """Parse the hints of a query; whatever they are, nothing is raised.

    A time without a zone may be of any: the Spark connector writes its session's times
    in SQL and does not say which zone that is.
    """
    collected = _Collected(schema, zone_is_unknown=True)
    if json_predicate_hints is not None:
        collected.add(json_predicate_hints, collected.json_parts)
    if predicate_hints is not None:
        collected.add_sql(predicate_hints)
    return collected.hints()


def reach_of(
    condition: SQLText, schema: StructType, time_zone: str = UTC_ZONE
) -> Predicate | None:
    """Return what holds wherever a condition is true; None where nothing is known.

    It is read as hints of clients are: no row is lost that Spark would find.

    Args:
        time_zone: Whose clocks show the times without a zone.
    """
    return understood(condition, schema, time_zone).reach


def misses_of(
    condition: SQLText, schema: StructType, time_zone: str = UTC_ZONE
) -> Predicate:
    """Return what holds wherever a condition is not true: where false or unknown.

    It holds for every row where a part of the condition is not understood. Arguments
    and errors are those of `reach_of`.
    """
    return understood(condition, schema, time_zone).misses


def understood(
    condition: SQLText, schema: StructType, time_zone: str = UTC_ZONE
) -> Hints:
    """Return what a condition says of files; arguments are those of `reach_of`."""
    collected, zone = _Collected(schema), zone_rules(time_zone)
    collected.add(condition.text, lambda _: collected.parts_of(condition, zone=zone))
    return collected.hints()


class _Collected:
    """What the hints came to so far, within bounds."""

    def __init__(self, schema: StructType, *, zone_is_unknown: bool = False) -> None:
        self.schema = schema
        self.zone_is_unknown = zone_is_unknown
        self.conditions: list[Bounds] = []
        self.skipped: list[SkippedHint] = []
        self.characters_left = MAX_SQL_CHARACTERS
        self.tokens_left = MAX_TOKENS
        self.comparisons_left = MAX_COMPARISONS

    def hints(self) -> Hints:
        conditions, skipped = self.conditions, tuple(self.skipped)
        return Hints(
            tuple(condition.if_true for condition in conditions),
            Constant(value=True) if skipped else all_of(conditions).misses,
            skipped,
        )

    def add_sql(self, hints: object) -> None:
        if not isinstance(hints, list | tuple):
            self.skip(hints, "it is not a list of text")
            return
        for hint in hints[:MAX_HINTS]:
            self.add(hint, self.sql_parts)
        if len(hints) > MAX_HINTS:
            reason = f"{len(hints) - MAX_HINTS} hints are beyond the first {MAX_HINTS}"
            self.skip(hints[MAX_HINTS], reason)

    def add(self, hint: object, read: Callable[[str], list[Part]]) -> None:
        """Add what the parts of a hint say, each alone."""
        try:
            if not isinstance(hint, str):
                raise PredicateError(reason="it is not text")  # as others
            parts = read(hint)
        except _FAULTS as error:
            self.skip(hint, _reason(error))
            return
        for text, meaning in parts:
            if isinstance(meaning, PredicateError):
                self.skip(text, meaning.reason)
                continue
            count = count_comparisons(meaning.if_true)
            if count > self.comparisons_left:
                self.skip(text, f"the hints make over {MAX_COMPARISONS} comparisons")
                continue
            self.comparisons_left -= count
            self.conditions.append(meaning)

    def json_parts(self, hint: str) -> list[Part]:
        parts = json.conjuncts(json.parse_tree(hint))
        return [(text, self.meaning(part, json.read_condition)) for text, part in parts]

    def sql_parts(self, hint: str) -> list[Part]:
        if len(hint) > self.characters_left:
            reason = f"the hints are longer than {MAX_SQL_CHARACTERS} characters"
            raise PredicateError(reason=reason)
        self.characters_left -= len(hint)
        parsed = parse_sql(hint, max_tokens=self.tokens_left)
        self.tokens_left -= len(parsed.tokens)
        return self.parts_of(parsed)

    def parts_of(self, parsed: SQLText, *, zone: ZoneRules | None = None) -> list[Part]:
        others = sql.other_texts(parsed, self.schema)
        unknown = self.zone_is_unknown
        reader = sql.SQLReader(others, zone_is_unknown=unknown, zone=zone)
        return [
            (text, self.meaning(part, reader.condition))
            for text, part in sql.conjuncts(parsed)
        ]

    def meaning(
        self, part: P, read: Callable[[P], tree.Node]
    ) -> Bounds | PredicateError:
        """What a part of a hint means, or why it is skipped."""
        try:
            return widen(read(part), self.schema)
        except json.MalformedHintError:
            raise
        except PredicateError as error:
            return error

    def skip(self, hint: object, reason: str) -> None:
        text = hint if isinstance(hint, str) else f"a {type(hint).__name__}"
        self.skipped.append(SkippedHint(_line(text), _line(reason)))


def _reason(error: Exception) -> str:
    if isinstance(error, PredicateError):
        return error.reason
    if isinstance(error, RecursionError):
        return "it nests too deeply"
    return "it cannot be read"


def _line(text: str) -> str:
    """The text cut to a line of characters that can be shown and stored."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in text[:MAX_TEXT_SHOWN]
    )
