"""The SQL text of a condition, parsed by sqlglot within bounds.

The text is bounded before it is parsed: in length, in tokens and in nesting.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.databricks import Databricks
from sqlglot.errors import ParseError, SqlglotError

from deltaweb.delta.errors import PredicateError

MAX_LENGTH = 100_000
MAX_TOKENS = 20_000
MAX_NESTING_DEPTH = 20

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
_PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
TOO_DEEP = f"it nests deeper than {MAX_NESTING_DEPTH} levels"


class _Conditions(Databricks):
    """Spark's SQL, with the standard's doubled quote inside a text."""

    class Tokenizer(Databricks.Tokenizer):
        STRING_ESCAPES = ["'", "\\"]


class NotSQLError(PredicateError):
    """A text is no condition in SQL, whoever reads it."""


@dataclass(frozen=True)
class SQLText:
    """A condition that parsed."""

    text: str
    tokens: Sequence[Token]
    tree: exp.Expr


def parse_sql(sql: str, *, max_tokens: int = MAX_TOKENS) -> SQLText:
    if len(sql) > MAX_LENGTH:
        raise PredicateError(reason=f"it is longer than {MAX_LENGTH} characters")
    if not sql.strip():
        raise NotSQLError(reason="it is empty")
    if any("\ud800" <= character <= "\udfff" for character in sql):
        raise PredicateError(reason="it holds characters that are no text")
    dialect = _Conditions()
    try:
        tokens = dialect.tokenize(sql)
        _check_bounds(tokens, max_tokens)
        trees = dialect.parser().parse(tokens, sql)
    except RecursionError:
        raise PredicateError(reason=TOO_DEEP) from None
    except ParseError as error:
        raise NotSQLError(reason=_parse_reason(error)) from None
    except (SqlglotError, ValueError, AttributeError, TypeError, LookupError):
        raise NotSQLError(reason="it is not a condition in SQL") from None
    if len(trees) != 1 or trees[0] is None:
        raise NotSQLError(reason="it is not one condition")
    return SQLText(sql, tokens, trees[0])


def _check_bounds(tokens: list[Token], max_tokens: int) -> None:
    """Refuse what would take a recursive parser too deep, before it starts."""
    if len(tokens) > max_tokens:
        raise PredicateError(reason=f"it has more than {max_tokens} parts")
    depth = prefixes = 0
    for token in tokens:
        if token.token_type in _OPENING:
            depth += 1
        elif token.token_type in _CLOSING:
            depth -= 1
        prefixes = prefixes + 1 if token.token_type in _PREFIXES else 0
        if (
            max(depth, prefixes) > MAX_NESTING_DEPTH
            or depth + prefixes > 2 * MAX_NESTING_DEPTH
        ):
            raise PredicateError(reason=TOO_DEEP)


def _parse_reason(error: ParseError) -> str:
    first = next(iter(error.errors), {})
    near = str(first.get("highlight") or "").strip() or "its end"
    return f"it is not SQL at {near[:40]!r} (character {first.get('col')})"


def written(expression: exp.Expr) -> str:
    try:
        return str(expression.sql(dialect=Databricks))
    except (SqlglotError, RecursionError, ValueError):  # pragma: no cover # a safeguard
        return type(expression).__name__


def shown(expression: exp.Expr) -> str:
    """A part of a condition as an error shows it, cut to a line."""
    text = written(expression)
    return repr(text if len(text) <= 80 else f"{text[:80]}...")  # noqa: PLR2004 # a line
