"""Why a part of a condition cannot skip files, and how to write it so that it can.

A file is skipped by comparing the range of a column with a value. A cast, a function
or arithmetic around the column hides the range. Some of them can be written as a
comparison of the column itself:

    CAST(day AS STRING) >= '2026-10-01'   day >= DATE '2026-10-01'
    CAST(at AS DATE) = '2026-10-01'       at >= TIMESTAMP '2026-10-01 00:00:00' AND ...
    year(day) = 2026                      day >= DATE '2026-01-01' AND day < ...
    CAST(id AS STRING) = '5'              id = 5
    substring(code, 1, 2) = 'DE'          code LIKE 'DE%'
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, date, timedelta
from typing import Final, TypeAlias

from sqlglot import exp

from deltaweb.conditions.columns import TypedColumn, find_hinted_column
from deltaweb.conditions.sql import COMPARISONS, cast_type, column_names, unwrapped
from deltaweb.conditions.sql_text import written
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.schema import PrimitiveType, StructType
from deltaweb.delta.scan.operators import OPERATORS
from deltaweb.delta.values.value_text import INTEGER_BITS

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
_YEAR: Final = re.compile(r"[0-9]{4}")
_LITERALS: Final = {
    "date": "DATE '{0}'",
    "timestamp": "TIMESTAMP '{0} 00:00:00'",
    "timestamp_ntz": "TIMESTAMP_NTZ '{0} 00:00:00'",
}
"""The beginning of a day as a literal of each type."""
_STRING: Final = PrimitiveType("string")
_DATE: Final = PrimitiveType("date")
_ARITHMETIC: Final = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv, exp.Neg)
_INSIDE: Final = (exp.Func, exp.Dot, exp.Paren, exp.DPipe, *_ARITHMETIC)
"""What stands around a column within an operand."""
_DAY_OF: Final = (exp.Date, exp.TsOrDsToDate)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a part of a condition cannot skip files.

    Attributes:
        reason: A phrase, such as "the cast prevents skipping by `day`".
        suggestion: The part in SQL that can skip; "" if it cannot be written so.
    """

    reason: str
    suggestion: str = ""


Rewrite: TypeAlias = Callable[[exp.Expr, TypedColumn, str, str], str]
"""Returns a comparison of a column itself, by the operand around the column, the
column, the sign and the text of the literal; "" if there is none."""


def obstacle_of(part: exp.Expr, schema: StructType, reason: str = "") -> Obstacle:
    """Return why a part cannot skip files.

    Args:
        part: The part, as `conjuncts` has it.
        reason: Why it is not understood, for a part that hides no column.
    """
    rewritten = _rewritten(part, schema)
    suggestion = "" if rewritten is None else written(rewritten)
    return Obstacle(_reason(part, reason), suggestion)


def _reason(part: exp.Expr, reason: str) -> str:
    """Name what is around the first column that is hidden."""
    for column in part.find_all(exp.Column):
        around: exp.Expr = column
        while isinstance(around.parent, _INSIDE) and around is not part:
            if isinstance(around.parent, exp.Connector):
                break
            around = around.parent
        around = unwrapped(around)
        name = ".".join(column_names(column))
        if around is not column:
            return f"{_shown(around)} prevents skipping by `{name}`"
        beside = column.parent
        if isinstance(beside, exp.Like) and beside.expression.name[:1] in {"%", "_"}:
            return f"the pattern for `{name}` begins with a wildcard"
        if isinstance(beside, exp.Binary) and _compares_columns(beside):
            return "a comparison of two columns cannot skip files"
    return reason or "this part cannot skip files"


def _shown(around: exp.Expr) -> str:
    if isinstance(around, exp.Cast):
        return "the cast"
    if isinstance(around, exp.DPipe):
        return "the concatenation"
    if isinstance(around, _ARITHMETIC):
        return "the arithmetic"
    return f"the function {_name_of(around)}"


def _name_of(function: exp.Expr) -> str:
    if isinstance(function, exp.Anonymous):
        return str(function.this).lower()
    return written(function).partition("(")[0].lower()


def _compares_columns(comparison: exp.Binary) -> bool:
    sides = (comparison.left, comparison.right)
    return all(side.find(exp.Column) is not None for side in sides)


def _rewritten(part: exp.Expr, schema: StructType) -> exp.Expr | None:
    """Return a part with each comparison of a hidden column rewritten, if any is."""
    changed = False

    def of_column(node: exp.Expr) -> exp.Expr:
        nonlocal changed
        text = _comparison(node, schema)
        if not text:
            return node
        changed = True
        is_alone = node.parent is None or " AND " not in text
        return exp.Var(this=text if is_alone else f"({text})")

    found = part.copy().transform(of_column)
    return found if changed else None


def _comparison(node: exp.Expr, schema: StructType) -> str:
    """Return a comparison of a hidden column as one of the column itself, or ""."""
    sign = COMPARISONS.get(type(node))
    if sign is None or not isinstance(node, exp.Binary):
        return ""
    hidden, literal = unwrapped(node.left), unwrapped(node.right)
    if literal.find(exp.Column):
        hidden, literal, sign = literal, hidden, OPERATORS[sign].swapped
    text = _literal_text(literal)
    columns = [*hidden.find_all(exp.Column)]
    if text is None or len(columns) != 1 or isinstance(hidden, exp.Column):
        return ""
    try:
        column = find_hinted_column(schema, column_names(columns[0]))
    except DeltaError:
        return ""
    inside = unwrapped(hidden.this)
    if isinstance(hidden, exp.Year) and isinstance(inside, exp.TsOrDsToDate):
        inside = inside.this  # as the parser has it
    for kinds, rewrite in _REWRITES.items():
        if isinstance(hidden, kinds) and inside is columns[0]:
            found = rewrite(hidden, column, sign, text)
            return found and found.format(written(columns[0]))
    return ""


def _literal_text(literal: exp.Expr) -> str | None:
    """Return the text of a literal, also of a day as text; None for anything else."""
    if isinstance(literal, exp.Cast) and cast_type(literal) == _DATE:
        literal = literal.this
    if isinstance(literal, exp.Literal):
        return str(literal.this)
    if isinstance(literal, exp.Neg) and isinstance(literal.this, exp.Literal):
        return f"-{literal.this.this}"
    return None


def _of_cast(cast: exp.Expr, column: TypedColumn, sign: str, text: str) -> str:
    target = cast_type(cast) if isinstance(cast, exp.Cast) else None
    if target == _DATE:
        return _of_day(cast, column, sign, text)
    if target != _STRING:
        return ""
    if column.data_type == _DATE and _day(text):
        return f"{{0}} {sign} DATE '{text}'"
    is_integer = isinstance(column.data_type, PrimitiveType) and (
        column.data_type.name in INTEGER_BITS
    )
    if is_integer and sign in {"=", "!="} and _INTEGER.fullmatch(text):
        return f"{{0}} {sign} {text}"
    return ""


def _of_day(_: exp.Expr, column: TypedColumn, sign: str, text: str) -> str:
    day = _day(text)
    return _between(column, sign, day, day and day + timedelta(days=1))


def _of_year(_: exp.Expr, column: TypedColumn, sign: str, text: str) -> str:
    if not _YEAR.fullmatch(text) or not 0 < int(text) < MAXYEAR:
        return ""
    year = int(text)
    return _between(column, sign, date(year, 1, 1), date(year + 1, 1, 1))


def _between(
    column: TypedColumn, sign: str, first: date | None, after: date | None
) -> str:
    """Return a comparison with a span of days, from `first` to before `after`."""
    name = getattr(column.data_type, "name", "")
    if name not in _LITERALS or first is None or after is None:
        return ""
    low, high = (_LITERALS[name].format(day.isoformat()) for day in (first, after))
    match sign:
        case "=":
            return f"{{0}} >= {low} AND {{0}} < {high}"
        case "!=":
            return f"({{0}} < {low} OR {{0}} >= {high})"
        case "<" | ">=":
            return f"{{0}} {sign} {low}"
        case "<=" | ">":
            return f"{{0}} {'<' if sign == '<=' else '>='} {high}"
    return ""


def _day(text: str) -> date | None:
    """Return the day that a text is; None of another text, and of the last day."""
    try:
        day = date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        return None
    return None if day == date.max else day


def _of_start(start: exp.Expr, column: TypedColumn, sign: str, text: str) -> str:
    """Rewrite the first characters of a text that are compared with as many."""
    place, length = start.args.get("start"), start.args.get("length")
    if isinstance(start, exp.Left):
        place, length = exp.Literal.number(1), start.expression
    numbers = [_literal_text(one) if one else None for one in (place, length)]
    is_start = numbers[0] in {"0", "1"} and numbers[1] == str(len(text))
    is_plain = not re.search(r"[%_\\'{}]", text)
    if column.data_type != _STRING or not (is_start and is_plain and text):
        return ""
    if sign not in {"=", "!="}:
        return ""
    return f"{{0}}{' NOT' if sign == '!=' else ''} LIKE '{text}%'"


_REWRITES: Final[Mapping[tuple[type[exp.Expr], ...], Rewrite]] = {
    (exp.Cast,): _of_cast,
    _DAY_OF: _of_day,
    (exp.Year,): _of_year,
    (exp.Substring, exp.Left): _of_start,
}
