"""Why the conditions and columns of an address do not fit a version, in sentences.

QueryError
├── UnknownColumnError    a column that the version does not have
├── FilterShapeError      no condition at all
├── NotComparableError    a column whose values have no order
├── NotTextError          `contains` of a column that is no text
└── FilterValueError      a value that is not of the column's type
"""

from collections.abc import Collection, Sequence

from apps.explorer.forms import QueryError
from deltaweb.delta.errors import column_hint, shortened_name


class UnknownColumnError(QueryError):
    """The address names a column that the version does not have."""

    def __init__(self, *, part: str, name: str, names: Sequence[str]) -> None:
        super().__init__(
            part=part,
            expected="a column of this version",
            message=f"This version has no column {shortened_name(name)!r}.",
            hint=column_hint(name, names),
        )


class FilterShapeError(QueryError):
    """A filter is not written as a condition."""

    def __init__(self, *, text: str, operators: Collection[str]) -> None:
        known = ", ".join(operators)
        super().__init__(
            part="f",
            expected=f"column:operator:value with one of {known}",
            message=f"The filter {shortened_name(text)!r} is no condition.",
        )


class NotComparableError(QueryError):
    """The values of a column cannot be compared with one of the address."""

    def __init__(self, *, column: str, kind: str) -> None:
        super().__init__(
            part="f",
            expected="another filter",
            message=f"Values of the column {shortened_name(column)!r} "
            f"({shortened_name(kind)}) cannot be compared.",
            hint="Filter it by null or notnull.",
        )


class NotTextError(QueryError):
    """Only a text contains another."""

    def __init__(self, *, column: str, kind: str) -> None:
        super().__init__(
            part="f",
            expected="another operator",
            message=f"The column {shortened_name(column)!r} ({kind}) is no text.",
            hint="Use another operator, such as eq or lt.",
        )


class FilterValueError(QueryError):
    """The value of a condition is not of its column's type."""

    def __init__(self, *, column: str, value: str, kind: str, example: str) -> None:
        super().__init__(
            part="f",
            expected="another value",
            message=f"{shortened_name(value)!r} is no value of the column "
            f"{shortened_name(column)!r} ({kind}).",
            hint=f"Give {example}.",
        )
