"""The functions that are evaluated here, by their names in Spark's SQL."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.expressions.arithmetic import arithmetic, negative
from deltaweb.expressions.bounds import check_made, text_bytes
from deltaweb.expressions.casts import LOCAL_TIME, cast, clock_of
from deltaweb.expressions.choice import case, coalesced, not_null, null, null_if_equal
from deltaweb.expressions.comparison import (
    CASE_GROWTH,
    boolean,
    compared,
    lower_case,
    mapped_text,
)
from deltaweb.expressions.node import (
    BoundExpression,
    NotTranslatedError,
    Values,
    literal,
    typed,
)

TEXT: Final = pa.string()
INTEGER: Final = pa.int32()
_DAY_BITS: Final = 32
Function = Callable[[Sequence[BoundExpression]], BoundExpression]


def call(name: str, arguments: Sequence[BoundExpression]) -> BoundExpression:
    function = FUNCTIONS.get(name.lower())
    if function is None:
        message = f"the function {name.lower()} is not evaluated here"
        raise NotTranslatedError(message)
    counts, build = function
    if len(arguments) not in counts:
        message = f"{name.lower()} of {len(arguments)} arguments is not evaluated here"
        raise NotTranslatedError(message)
    return build(arguments)


# === Texts ===


def _texts(nodes: Sequence[BoundExpression], what: str) -> list[BoundExpression]:
    for node in nodes:
        if not (node.is_null or pa.types.is_string(node.kind)):
            message = f"{what} of {node.kind} is not evaluated here"
            raise NotTranslatedError(message)
    return [typed(node, TEXT) for node in nodes]


def _of_text(
    name: str, calculate: Callable[[Values], Values], kind: pa.DataType = TEXT
) -> Function:
    def build(arguments: Sequence[BoundExpression]) -> BoundExpression:
        [node] = _texts(arguments, name)
        return BoundExpression(kind, lambda rows: calculate(node.values(rows)))

    return build


def concatenated(arguments: Sequence[BoundExpression]) -> BoundExpression:
    """Return texts one after another; null where one is."""
    nodes = [
        node if node.is_null or pa.types.is_string(node.kind) else cast(node, TEXT)
        for node in arguments
    ]
    parts = [typed(node, TEXT) for node in nodes]

    def evaluate(rows: pa.RecordBatch) -> Values:
        made = []
        for part in parts:  # what is too much is found before the others are made
            made.append(part.values(rows))
            check_made("concat", text_bytes(made[-1]))
        return pc.binary_join_element_wise(*made, "")

    return BoundExpression(TEXT, evaluate)


def _substring(arguments: Sequence[BoundExpression]) -> BoundExpression:
    [node] = _texts(arguments[:1], "substring")
    numbers = [argument.literal for argument in arguments[1:]]
    start, length = (*numbers, None)[:2]
    if not isinstance(start, int) or (len(numbers) > 1 and not isinstance(length, int)):
        message = "substring takes literal numbers"
        raise NotTranslatedError(message)
    count = length if isinstance(length, int) else None

    def cut(text: str) -> str:
        # What lies before the first character counts toward the length.
        first = start - 1 if start > 0 else len(text) + start if start < 0 else 0
        last = len(text) if count is None else first + count
        return text[max(0, first) : max(0, last)]

    calculate = mapped_text("substring", cut)
    return BoundExpression(TEXT, lambda rows: calculate(node.values(rows)))


def _with_literal(name: str, calculate: Callable[[Values, str], Values]) -> Function:
    def build(arguments: Sequence[BoundExpression]) -> BoundExpression:
        node, other = _texts(arguments, name)
        text = other.literal
        if not isinstance(text, str):
            message = f"{name} takes a literal text"
            raise NotTranslatedError(message)
        return boolean(lambda rows: calculate(node.values(rows), text))

    return build


def _replaced(arguments: Sequence[BoundExpression]) -> BoundExpression:
    node, *others = _texts(arguments, "replace")
    texts = [other.literal for other in others]
    old, new = (*texts, "")[:2]
    if not isinstance(old, str) or not isinstance(new, str):
        message = "replace takes literal texts"
        raise NotTranslatedError(message)
    if not old:
        return node
    growth = max(0, len(new.encode()) - len(old.encode()))

    def evaluate(rows: pa.RecordBatch) -> Values:
        values = node.values(rows)
        num_bytes = text_bytes(values)
        if growth:
            counts = pc.count_substring(values, pattern=old)
            num_bytes += growth * (pc.sum(counts).as_py() or 0)
        check_made("replace", num_bytes)
        return pc.replace_substring(values, pattern=old, replacement=new)

    return BoundExpression(TEXT, evaluate)


# === Numbers ===


def _absolute(arguments: Sequence[BoundExpression]) -> BoundExpression:
    [node] = arguments
    return case([(compared("<", node, literal(0, INTEGER)), negative(node))], node)


def _rounded(name: str, calculate: Callable[[Values], Values]) -> Function:
    def build(arguments: Sequence[BoundExpression]) -> BoundExpression:
        [node] = arguments
        if pa.types.is_integer(node.kind):
            return cast(node, pa.int64())
        if not pa.types.is_floating(node.kind):
            message = f"{name} of {node.kind} is not evaluated here"
            raise NotTranslatedError(message)
        number = cast(node, pa.float64())
        return BoundExpression(
            pa.int64(), lambda rows: _as_long(calculate(number.values(rows)))
        )

    return build


def _as_long(numbers: Values) -> Values:
    """Return whole doubles as Java takes them for longs: NaN is 0, and no end is left.

    A cast of such a number is an error, but `floor` and `ceil` make none of it.
    """
    known = pc.if_else(pc.is_nan(numbers), 0.0, numbers)
    is_high, is_low = pc.greater_equal(known, 2.0**63), pc.less(known, -(2.0**63))
    inside = pc.if_else(pc.or_(is_high, is_low), 0.0, known).cast(pa.int64())
    return pc.if_else(is_high, 2**63 - 1, pc.if_else(is_low, -(2**63), inside))


# === Dates and times ===


def _field(name: str, calculate: Callable[[Values], Values]) -> Function:
    def build(arguments: Sequence[BoundExpression]) -> BoundExpression:
        [node] = arguments
        if pa.types.is_date32(node.kind) and name not in _OF_TIMES:
            part = node
        elif pa.types.is_timestamp(node.kind):
            clock = clock_of(node.kind)
            part = BoundExpression(LOCAL_TIME, lambda rows: clock(node.values(rows)))
        else:
            message = f"{name} of {node.kind} is not evaluated here"
            raise NotTranslatedError(message)
        return BoundExpression(
            INTEGER, lambda rows: calculate(part.values(rows)).cast(INTEGER)
        )

    return build


_OF_TIMES: Final = frozenset({"hour", "minute", "second"})


def _week_day(values: Values) -> Values:
    return pc.day_of_week(values, count_from_zero=False, week_start=7)


def _date(node: BoundExpression) -> BoundExpression:
    if pa.types.is_string(node.kind):
        message = "a text as a date needs a cast"
        raise NotTranslatedError(message)
    return cast(node, pa.date32())


def _days_later(sign: str) -> Function:
    def build(arguments: Sequence[BoundExpression]) -> BoundExpression:
        day, days = arguments
        if not pa.types.is_integer(days.kind) or days.kind.bit_width > _DAY_BITS:
            message = "days are whole numbers of 32 bits"
            raise NotTranslatedError(message)
        start = _date(day)
        number = BoundExpression(INTEGER, lambda rows: start.values(rows).cast(INTEGER))
        by = cast(days, INTEGER)
        # Beyond the ends of the calendar Spark goes on at the other one.
        move = pc.add if sign == "+" else pc.subtract

        def evaluate(rows: pa.RecordBatch) -> Values:
            return move(number.values(rows), by.values(rows)).cast(pa.date32())

        return BoundExpression(pa.date32(), evaluate)

    return build


def _days_between(arguments: Sequence[BoundExpression]) -> BoundExpression:
    numbers = []
    for argument in arguments:
        day = _date(argument)
        numbers.append(_day_number(day))
    return arithmetic("-", numbers[0], numbers[1])


def _day_number(day: BoundExpression) -> BoundExpression:
    return BoundExpression(INTEGER, lambda rows: day.values(rows).cast(INTEGER))


_ONE, _TWO = range(1, 2), range(2, 3)
_ANY: Final = range(1, 1_000)
FUNCTIONS: Final[Mapping[str, tuple[range, Function]]] = {
    "upper": (_ONE, _of_text("upper", mapped_text("upper", str.upper, CASE_GROWTH))),
    "ucase": (_ONE, _of_text("upper", mapped_text("upper", str.upper, CASE_GROWTH))),
    "lower": (_ONE, _of_text("lower", mapped_text("lower", lower_case, CASE_GROWTH))),
    "lcase": (_ONE, _of_text("lower", mapped_text("lower", lower_case, CASE_GROWTH))),
    "length": (_ONE, _of_text("length", pc.utf8_length, INTEGER)),
    "char_length": (_ONE, _of_text("length", pc.utf8_length, INTEGER)),
    "trim": (_ONE, _of_text("trim", lambda v: pc.utf8_trim(v, characters=" "))),
    "ltrim": (_ONE, _of_text("ltrim", lambda v: pc.utf8_ltrim(v, characters=" "))),
    "rtrim": (_ONE, _of_text("rtrim", lambda v: pc.utf8_rtrim(v, characters=" "))),
    "concat": (_ANY, concatenated),
    "substring": (range(2, 4), _substring),
    "substr": (range(2, 4), _substring),
    "replace": (range(2, 4), _replaced),
    "startswith": (
        _TWO,
        _with_literal("startswith", lambda v, text: pc.starts_with(v, pattern=text)),
    ),
    "endswith": (
        _TWO,
        _with_literal("endswith", lambda v, text: pc.ends_with(v, pattern=text)),
    ),
    "contains": (
        _TWO,
        _with_literal("contains", lambda v, text: pc.match_substring(v, pattern=text)),
    ),
    "abs": (_ONE, _absolute),
    "ceil": (_ONE, _rounded("ceil", pc.ceil)),
    "ceiling": (_ONE, _rounded("ceil", pc.ceil)),
    "floor": (_ONE, _rounded("floor", pc.floor)),
    "mod": (_TWO, lambda arguments: arithmetic("%", *arguments)),
    "negative": (_ONE, lambda arguments: negative(arguments[0])),
    "coalesce": (_ANY, coalesced),
    "nvl": (_TWO, coalesced),
    "ifnull": (_TWO, coalesced),
    "nullif": (_TWO, lambda arguments: null_if_equal(*arguments)),
    "if": (range(3, 4), lambda a: case([(a[0], a[1])], a[2])),
    "nvl2": (range(3, 4), lambda a: case([(not_null(a[0]), a[1])], a[2])),
    "isnull": (_ONE, lambda arguments: null(arguments[0])),
    "isnotnull": (_ONE, lambda arguments: not_null(arguments[0])),
    "year": (_ONE, _field("year", pc.year)),
    "quarter": (_ONE, _field("quarter", pc.quarter)),
    "month": (_ONE, _field("month", pc.month)),
    "day": (_ONE, _field("day", pc.day)),
    "dayofmonth": (_ONE, _field("day", pc.day)),
    "dayofweek": (_ONE, _field("dayofweek", _week_day)),
    "dayofyear": (_ONE, _field("dayofyear", pc.day_of_year)),
    "hour": (_ONE, _field("hour", pc.hour)),
    "minute": (_ONE, _field("minute", pc.minute)),
    "second": (_ONE, _field("second", pc.second)),
    "to_date": (_ONE, lambda arguments: _date(arguments[0])),
    "date": (_ONE, lambda arguments: _date(arguments[0])),
    "date_add": (_TWO, _days_later("+")),
    "date_sub": (_TWO, _days_later("-")),
    "datediff": (_TWO, _days_between),
}
