"""How much an expression may make of one row, estimated before an engine starts.

`bounds` counts what is evaluated in process, value by value. Spark counts nothing, and
a text of two gigabytes ends its process for everybody. So an expression is left to
Spark only if what it makes of a row is known to be small: by literals, and by the
lengths of what it is given. A value of a column counts as `COLUMN_BYTES`.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final

from sqlglot import exp

from deltaweb.conditions.sql import COMPARISONS, connected, unwrapped
from deltaweb.expressions.errors import ExpressionMistakenError, ExpressionTooLargeError

COLUMN_BYTES: Final = 256
"""What the value of a column counts as."""
ROW_BYTES: Final = 1 << 20
"""The most that an expression may make of a row, in all of its parts together.

Spark pads some 4 MB of text a second, and others wait for it.
"""
MAX_HEIGHT: Final = 150
"""Operators and calls in one another; Spark's parser and planner are recursive."""
MAX_STEPS: Final = 100_000
"""Parts that are looked at: lambdas in lambdas are looked at several times."""
_VALUE_BYTES: Final = 16
"""What a number, a time or a place in an array takes."""
_UNKNOWN: Final = math.inf
_LINEAR: Final = 1.01
_FACTORS: Final = {
    "hex": 2,
    "to_base64": 2,
    "encode": 4,
    "translate": 4,
    "json_format": 8,
    "regexp_split": 32,
    "regexp_extract_all": 32,
    "str_to_map": 32,
    "url_encode": 3,
    "sentences": 32,
    "to_csv": 8,
    "to_xml": 32,
    "bin": 64,
    "conv": 64,
}
_NUMBERS: Final = (
    *COMPARISONS,
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Not),
    *(exp.Between, exp.In, exp.Is, exp.Like, exp.ILike, exp.RegexpLike, exp.Length),
    *(exp.ArraySize, exp.BitLength, exp.Exists, exp.Connector, exp.StrPosition),
)
_LENGTHS: Final = frozenset({"cardinality", "octet_length", "instr", "locate"})
_FIELDS: Final[Mapping[type[exp.Expr], int]] = {
    exp.Year: 9999,
    exp.Quarter: 4,
    exp.Month: 12,
    exp.Week: 53,
    exp.Day: 31,
    exp.DayOfMonth: 31,
    exp.DayOfWeek: 7,
    exp.DayOfYear: 366,
    exp.Hour: 24,
    exp.Minute: 60,
    exp.Second: 60,
}
_WIDTH: Final = re.compile(r"%[^a-zA-Z%]*")
_DAYS: Final = {"DAY": 1, "WEEK": 7, "MONTH": 28, "YEAR": 365}


def refuse_growth(sql: str, tree: exp.Expr) -> None:
    """Refuse an expression that may make too much of a row, or that nests too deeply.

    Raises:
        ExpressionTooLargeError: If it makes more than `ROW_BYTES`.
        ExpressionMistakenError: If how much it makes is not known.
    """
    if _height(tree) > MAX_HEIGHT:
        reason = f"it has more than {MAX_HEIGHT} operators and calls in one another"
        hint = "Write it with fewer of them, or in several steps."
        raise ExpressionMistakenError(sql=sql, reason=reason, hint=hint)
    _Estimate(sql).bytes_of(tree)


def _height(tree: exp.Expr) -> int:
    """Return how many parts are in one another; a chain of AND or OR is one."""
    height = 0
    waiting = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        height = max(height, depth)
        is_chain = isinstance(node, exp.Connector)
        waiting += [
            (part, depth if is_chain and type(part) is type(node) else depth + 1)
            for part in node.iter_expressions()
        ]
    return height


class _Estimate:
    """What one expression makes of a row."""

    def __init__(self, sql: str) -> None:
        self._sql = sql
        self._made = 0.0
        self._steps = 0
        self._given: dict[str, float] = {}

    def bytes_of(self, node: exp.Expr) -> float:
        """Return how large a value may be."""
        self._step()
        node = unwrapped(node)
        if isinstance(node, exp.Literal):
            return len(node.name.encode()) if node.is_string else _VALUE_BYTES
        if isinstance(node, exp.Column | exp.Identifier):
            return self._given.get(node.name.lower(), COLUMN_BYTES)
        name = _name_of(node)
        if name in _MADE:
            return self._grown(name, _MADE[name](self, _arguments(node)))
        parts = connected(node) if isinstance(node, exp.Connector) else _parts(node)
        whole = sum(self.bytes_of(part) for part in parts)
        if isinstance(node, _NUMBERS):
            return _VALUE_BYTES
        if name in _FACTORS:
            return self._grown(name, whole * _FACTORS[name])
        return whole + _VALUE_BYTES

    def largest(self, node: exp.Expr) -> float:
        """Return the largest number, without its sign, that a value may be."""
        self._step()
        node = unwrapped(node)
        if isinstance(node, exp.Literal):
            return _number(node.name)
        if isinstance(node, exp.Anonymous) and node.name.lower() in _LENGTHS:
            return max(map(self.bytes_of, node.expressions), default=0)
        for kinds, rule in _LARGEST.items():
            if isinstance(node, kinds):
                return rule(self, node)
        return _FIELDS.get(type(node), _UNKNOWN)

    def count_of(self, node: exp.Expr) -> float:
        """Return how many elements an array or a map may have."""
        node = unwrapped(node)
        if isinstance(node, exp.Array):
            return len(node.expressions)
        return max(1, self.bytes_of(node) / _VALUE_BYTES)

    def with_given(
        self, body: exp.Expr, given: Sequence[float], times: float = 1
    ) -> float:
        """Return how large the value of a lambda may be, given those of its names.

        Args:
            times: How often it is called, and makes what is in it.
        """
        if not isinstance(body, exp.Lambda):
            return self.bytes_of(body)
        before, made = self._given, self._made
        names = [name.name.lower() for name in body.expressions]
        self._given = {**before, **dict(zip(names, given, strict=False))}
        try:
            return self.bytes_of(body.this)
        finally:
            self._given = before
            self._made = made + (self._made - made) * times

    def _grown(self, name: str, num_bytes: float) -> float:
        """Refuse what a function makes if that is unknown or too much."""
        function = _WRITTEN.get(name, name)
        if not math.isfinite(num_bytes):
            reason = f"how much {function} makes of a row is not known beforehand"
            hint = "Give its length as a number, or bound it: least(n, 100)."
            raise ExpressionMistakenError(sql=self._sql, reason=reason, hint=hint)
        self._made += num_bytes
        if self._made > ROW_BYTES:
            raise ExpressionTooLargeError(
                sql=self._sql,
                function=function,
                num_bytes=int(self._made),
                num_rows=1,
                most_bytes=ROW_BYTES,
                is_final=True,
            )
        return num_bytes

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            reason = "its lambdas in one another are too many"
            hint = "Write it in several steps."
            raise ExpressionMistakenError(sql=self._sql, reason=reason, hint=hint)


# === The largest numbers ===


def _of_branches(known: _Estimate, node: exp.Expr) -> float:
    values = [branch.args["true"] for branch in node.args["ifs"]]
    default = node.args.get("default")
    return max(map(known.largest, [*values, default] if default else values))


_LARGEST: Final[
    Mapping[tuple[type[exp.Expr], ...], Callable[[_Estimate, exp.Expr], float]]
] = {
    (exp.Neg, exp.Abs, exp.Cast): lambda known, node: known.largest(node.this),
    (exp.Add, exp.Sub): lambda known, node: (
        known.largest(node.this) + known.largest(node.expression)
    ),
    (exp.Mul,): lambda known, node: (
        known.largest(node.this) * known.largest(node.expression)
    ),
    (exp.Mod,): lambda known, node: known.largest(node.expression),
    (exp.Least,): lambda known, node: min(map(known.largest, _arguments(node))),
    (exp.Greatest, exp.Coalesce): lambda known, node: max(
        map(known.largest, _arguments(node))
    ),
    (exp.If,): lambda known, node: max(map(known.largest, _arguments(node)[1:])),
    (exp.Case,): _of_branches,
    (exp.Length, exp.ArraySize, exp.StrPosition): lambda known, node: known.bytes_of(
        node.this
    ),
}


# === Functions that make more than they are given ===


_Arguments = Sequence[exp.Expr]
_Rule = Callable[[_Estimate, _Arguments], float]


def _padded(known: _Estimate, given: _Arguments) -> float:
    return 4 * known.largest(given[1]) + sum(map(known.bytes_of, given))


def _repeated(known: _Estimate, given: _Arguments) -> float:
    times = known.largest(given[1]) if len(given) > 1 else _UNKNOWN
    return (known.bytes_of(given[0]) + _VALUE_BYTES) * times


def _spaces(known: _Estimate, given: _Arguments) -> float:
    return known.largest(given[0])


def _sequence(known: _Estimate, given: _Arguments) -> float:
    ends = [_end(known, one) for one in given[:2]]
    step = _stride(known, given[2]) if len(given) > 2 else 1  # noqa: PLR2004  # start, stop, step
    if len(ends) < 2 or not step:  # noqa: PLR2004  # two ends
        return _UNKNOWN
    (first, is_first_exact), (last, is_last_exact) = ends
    is_exact = is_first_exact and is_last_exact
    span = abs(last - first) if is_exact else abs(first) + abs(last)
    return (span / step + 1) * _VALUE_BYTES


def _end(known: _Estimate, node: exp.Expr) -> tuple[float, bool]:
    """Return an end of a sequence: a number, or the number of a day; and if exactly."""
    node = unwrapped(node)
    sign = 1
    while isinstance(node, exp.Neg):
        node, sign = unwrapped(node.this), -sign
    inner = unwrapped(node.this) if isinstance(node, exp.Cast) else node
    if isinstance(node, exp.Cast) and node.is_type(exp.DataType.Type.DATE):
        try:
            return date.fromisoformat(inner.name).toordinal(), True
        except ValueError:
            return _UNKNOWN, False
    if isinstance(inner, exp.Literal):
        return sign * _number(inner.name), True
    return known.largest(node), False


def _stride(known: _Estimate, node: exp.Expr) -> float:
    """Return the least step of a sequence; zero where it is not known."""
    node = unwrapped(node)
    if isinstance(node, exp.Interval):
        unit = node.args.get("unit")
        return _DAYS.get(str(unit.name).upper().rstrip("S") if unit else "", 0)
    return known.largest(node) if _is_constant(node) else 0


def _is_constant(node: exp.Expr) -> bool:
    inner = unwrapped(node.this) if isinstance(node, exp.Neg | exp.Cast) else node
    return isinstance(inner, exp.Literal)


def _inserted(known: _Estimate, given: _Arguments) -> float:
    places = known.largest(given[1])
    return sum(map(known.bytes_of, given)) + _VALUE_BYTES * places


def _formatted(known: _Estimate, given: _Arguments) -> float:
    pattern = unwrapped(given[0])
    if not isinstance(pattern, exp.Literal):
        return _UNKNOWN
    widths = (
        float(digits)
        for spec in _WIDTH.findall(pattern.name)
        for digits in re.findall(r"[0-9]+", spec)
    )
    return sum(widths) + sum(map(known.bytes_of, given))


def _rounded(known: _Estimate, given: _Arguments) -> float:
    """Return what the digits of a number take, which are made one by one."""
    if len(given) < 2:  # noqa: PLR2004  # the number, and how many digits
        return known.bytes_of(given[0])
    digits = unwrapped(given[1])
    if isinstance(digits, exp.Literal) and digits.is_string:
        return known.bytes_of(digits) + known.bytes_of(given[0])
    return _VALUE_BYTES * known.largest(digits) + known.bytes_of(given[0])


def _replaced(known: _Estimate, given: _Arguments) -> float:
    whole = known.bytes_of(given[0]) + 1
    new = known.bytes_of(given[2]) if len(given) > 2 else 0  # noqa: PLR2004  # text, old, new
    refers = exp.Literal.string("$")
    literal = unwrapped(given[2]) if len(given) > 2 else refers  # noqa: PLR2004  # as above
    times = literal.name.count("$") if isinstance(literal, exp.Literal) else new
    return whole * max(1, new) + whole * times


def _joined(known: _Estimate, given: _Arguments) -> float:
    whole = sum(map(known.bytes_of, given))
    between = [known.bytes_of(one) for one in given[:2]]
    return whole + min(between, default=0) * whole / _VALUE_BYTES


def _transformed(known: _Estimate, given: _Arguments) -> float:
    """Return what a lambda makes of the elements of arrays or of maps."""
    *arrays, body = given
    counts = [known.count_of(one) for one in arrays]
    sizes = [known.bytes_of(one) for one in arrays]
    count = max(counts, default=1)
    elements = [size / of for size, of in zip(sizes, counts, strict=True)]
    # A lambda of an array may name a place, and one of a map a key and a value.
    given_each = [*elements, *elements[:1], max(elements, default=0)]
    each = known.with_given(body, given_each, count)
    return count * (each + _VALUE_BYTES)


def _sorted(known: _Estimate, given: _Arguments) -> float:
    if len(given) > 1 and isinstance(given[1], exp.Lambda):
        return _transformed(known, given)
    return sum(map(known.bytes_of, given))


def _reduced(known: _Estimate, given: _Arguments) -> float:
    array, start, merge, *finish = given
    count = known.count_of(array)
    element = known.bytes_of(array) / count
    first = known.bytes_of(start)
    some, more = (
        known.with_given(merge, [size, element], count)
        for size in (COLUMN_BYTES, 2 * COLUMN_BYTES)
    )
    slope = (more - some) / COLUMN_BYTES
    added = max(0.0, some - slope * COLUMN_BYTES)
    try:
        whole = (
            first + count * added
            if slope <= _LINEAR
            else (first + added) * slope**count
        )
    except OverflowError:
        whole = _UNKNOWN
    if math.isfinite(whole):
        whole += sum(known.with_given(body, [whole]) for body in finish)
    return whole


_MADE: Final[Mapping[str, _Rule]] = {
    "pad": _padded,
    "repeat": _repeated,
    "array_repeat": _repeated,
    "space": _spaces,
    "randstr": _spaces,
    "generate_series": _sequence,
    "array_insert": _inserted,
    "format": _formatted,
    "printf": _formatted,
    "format_number": _rounded,
    "round": _rounded,
    "bround": _rounded,
    "ceil": _rounded,
    "floor": _rounded,
    "replace": _replaced,
    "regexp_replace": _replaced,
    "array_to_string": _joined,
    "concat_ws": _joined,
    "transform": _transformed,
    "transform_keys": _transformed,
    "transform_values": _transformed,
    "zip_with": _transformed,
    "map_zip_with": _transformed,
    "filter": _transformed,
    "map_filter": _transformed,
    "exists": _transformed,
    "forall": _transformed,
    "array_sort": _sorted,
    "reduce": _reduced,
}


_WRITTEN: Final = {
    "pad": "lpad or rpad",
    "generate_series": "sequence",
    "array_to_string": "array_join",
    "format": "format_string",
    "to_base64": "base64",
    "json_format": "to_json",
    "regexp_split": "split",
    "reduce": "aggregate",
}
"""What Spark calls a function that our parser has another name for."""


def _name_of(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    """Return the arguments of a function in order."""
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    found: list[exp.Expr] = []
    for name in node.arg_types:
        value = node.args.get(name)
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, exp.Expr)]
        elif isinstance(value, exp.Expr):
            found.append(value)
    return found


def _parts(node: exp.Expr) -> Iterator[exp.Expr]:
    for part in node.iter_expressions():
        if not isinstance(part, exp.DataType):
            yield part


def _number(text: str) -> float:
    try:
        return abs(float(text))
    except ValueError:
        return _UNKNOWN
