"""The hints of a query, as conditions that never lose a matching row.

A client sends SQL texts, a tree of operations as JSON, or both, and applies the whole
condition itself to what it gets. So a hint may only ever be read too loosely: one
that is not understood is skipped, alone, and says why.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from deltaweb.delta.errors import PredicateError
from deltaweb.delta.predicate import Constant, Predicate
from deltaweb.delta.schema import StructType
from deltaweb.sharing.json_hints import JSONHintReader, parse_tree
from deltaweb.sharing.loose_conditions import Loose, all_of, count_comparisons
from deltaweb.sharing.sql_hints import SQLHintReader
from deltaweb.sharing.sql_text import MAX_TOKENS, SQLText, parse_sql

MAX_HINTS = 1_000
MAX_SQL_CHARACTERS = 100_000
"""Characters of all SQL hints of a query; those that fail to parse count too."""

MAX_COMPARISONS = 512
"""Comparisons of all hints; each looks at every file of the table."""

MAX_TEXT_SHOWN = 200
"""Characters of a skipped hint that are kept to show it."""

NOTHING = Constant(value=False)

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
        misses: A condition that holds for every row that the client may not want: for
            any row at all where a hint was not understood.
        skipped: What was not understood.
    """

    predicates: tuple[Predicate, ...] = ()
    misses: Predicate = NOTHING
    skipped: tuple[SkippedHint, ...] = ()


def parse_hints(
    *, predicate_hints: object, json_predicate_hints: object, schema: StructType
) -> Hints:
    """Parse the hints of a query; whatever they are, nothing is raised.

    A time without a zone is UTC in SQL, unless JSON hints are beside it: the Spark
    connector then writes the same condition twice, in SQL with times of its session's
    zone and in JSON with instants. Such times in SQL stand for any zone.

    Args:
        predicate_hints: The request's `predicateHints`, SQL texts.
        json_predicate_hints: The request's `jsonPredicateHints`, JSON in a text.
        schema: The table's schema.
    """
    collected = _Collected(schema)
    is_twin = json_predicate_hints is not None
    if is_twin:
        collected.add_json(json_predicate_hints)
    if predicate_hints is not None:
        collected.add_sql(predicate_hints, zone_is_unknown=is_twin)
    return Hints(
        tuple(collected.predicates), collected.misses, tuple(collected.skipped)
    )


class _Collected:
    """What the hints came to so far, within bounds."""

    def __init__(self, schema: StructType) -> None:
        self.schema = schema
        self.conditions: list[Loose] = []
        self.skipped: list[SkippedHint] = []
        self.characters_left = MAX_SQL_CHARACTERS
        self.tokens_left = MAX_TOKENS
        self.comparisons_left = MAX_COMPARISONS

    @property
    def predicates(self) -> list[Predicate]:
        """What every row that the client wants fulfils."""
        return [condition.if_true for condition in self.conditions]

    @property
    def misses(self) -> Predicate:
        """What every row fulfils that the client may not want."""
        if self.skipped:
            return Constant(value=True)
        return all_of(self.conditions).misses

    def add_json(self, hint: object) -> None:
        """Add the JSON hint."""
        if not isinstance(hint, str):
            self.skip(hint, "it is no text")
            return
        try:
            tree = parse_tree(hint)
            self.add(JSONHintReader(self.schema).read(tree))
        except _FAULTS as error:
            self.skip(hint, _reason(error))

    def add_sql(self, hints: object, *, zone_is_unknown: bool) -> None:
        """Add the SQL hints, each alone."""
        if not isinstance(hints, list | tuple):
            self.skip(hints, "it is no list of texts")
            return
        reader = SQLHintReader(self.schema, zone_is_unknown=zone_is_unknown)
        for hint in hints[:MAX_HINTS]:
            try:
                self.add(reader.read(self.parsed(hint)))
            except _FAULTS as error:
                self.skip(hint, _reason(error))
        if len(hints) > MAX_HINTS:
            reason = f"{len(hints) - MAX_HINTS} hints are beyond the first {MAX_HINTS}"
            self.skip(hints[MAX_HINTS], reason)

    def parsed(self, hint: object) -> SQLText:
        """One SQL hint, parsed."""
        if not isinstance(hint, str):
            raise PredicateError(reason="it is no text")
        if len(hint) > self.characters_left:
            reason = f"the hints are longer than {MAX_SQL_CHARACTERS} characters"
            raise PredicateError(reason=reason)
        self.characters_left -= len(hint)
        sql = parse_sql(hint, max_tokens=self.tokens_left)
        self.tokens_left -= len(sql.tokens)
        return sql

    def add(self, parts: Sequence[tuple[str, Loose | PredicateError]]) -> None:
        """Add what the parts of a hint say, each alone."""
        for text, part in parts:
            if isinstance(part, PredicateError):
                self.skip(text, part.reason)
                continue
            count = count_comparisons(part.if_true)
            if count > self.comparisons_left:
                self.skip(text, f"the hints make over {MAX_COMPARISONS} comparisons")
                continue
            self.comparisons_left -= count
            self.conditions.append(part)

    def skip(self, hint: object, reason: str) -> None:
        """Note a hint that selects nothing."""
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
