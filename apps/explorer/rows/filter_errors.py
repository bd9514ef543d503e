"""Why the conditions and columns of an address do not fit a version, in sentences."""

from collections.abc import Collection, Sequence

from apps.pages.request.parameters import QueryError
from deltaweb.errors import column_hint, shortened_name


class UnknownColumnError(QueryError):
    name: str
    names: Sequence[str]
    message = "This version has no column {name:q}."
    hint = "{_choice}"

    @property
    def _choice(self) -> str:
        return column_hint(self.name, self.names)


class FilterShapeError(QueryError):
    text: str
    operators: Collection[str]
    message = "The filter {text:q} is not a condition."
    hint = (
        "Give column:operator:value with one of {operators}, or a condition in SQL, or"
        " leave 'f' out."
    )


class NotComparableError(QueryError):
    column: str
    kind: str
    message = "Values of the column {column:q} ({_kind}) cannot be compared."
    hint = "Filter it by null or notnull."

    @property
    def _kind(self) -> str:
        return shortened_name(self.kind)


class NotTextError(QueryError):
    column: str
    kind: str
    message = "The column {column:q} ({kind}) is not text."
    hint = "Use another operator, such as eq or lt."


class FilterValueError(QueryError):
    column: str
    value: str
    kind: str
    example: str
    message = "{value:q} is not a value of the column {column:q} ({kind})."
    hint = "Give {example}."
