"""Conditions written in the SQL of three readers, each with its own literals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from deltaweb.conditions import tree
from deltaweb.delta.errors import PredicateError

WriteColumn = Callable[[str], str]
"""Returns what has the values of a column, by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLDialect:
    """How one reader writes conditions, names and values.

    Attributes:
        quote: The character around a name, doubled where the name holds it.
        escapes: What a text in single quotes writes for some characters.
        instant, local_time: How a moment with and without a zone is written.
    """

    quote: str
    escapes: Mapping[str, str]
    instant: str
    local_time: str

    def name(self, name: str) -> str:
        """Return a column's name, quoted."""
        return f"{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"

    def text(self, text: str) -> str:
        return f"'{''.join(self.escapes.get(c, c) for c in text)}'"

    def condition(self, node: tree.Node, column: WriteColumn | None = None) -> str:
        """Return a condition.

        Args:
            column: Writes columns; as quoted names where it is None.
        """

        def part(inner: tree.Node) -> str:
            return self.condition(inner, column)

        match node:
            case tree.And(parts) | tree.Or(parts):
                word = " AND " if isinstance(node, tree.And) else " OR "
                text = word.join(f"({part(one)})" for one in parts)
            case tree.Not(tree.Compare("IS", operand, constant)):
                text = f"{part(operand)} IS NOT {part(constant)}"
            case tree.Not(inner):
                text = f"NOT ({part(inner)})"
            case tree.Compare(operator, left, right):
                text = f"{part(left)} {operator} {part(right)}"
            case tree.OneOf(operand, values) if values:
                text = f"{part(operand)} IN ({', '.join(map(part, values))})"
            case tree.Call(name, arguments):
                text = f"{name}({', '.join(map(part, arguments))})"
            case tree.Column(str() as name, casts=()):
                text = (column or self.name)(name)
            case tree.Literal(casts=()):
                text = self.literal(node)
            case _:
                raise PredicateError(reason=f"{node.source} is not written in SQL")
        return text

    def literal(self, literal: tree.Literal) -> str:
        """Return a literal of the type that its column has."""
        quoted = self.text(literal.text)
        forms = {
            "number": literal.text,
            "boolean": literal.text.upper(),
            "null": "NULL",
            # A number of another type would widen the column.
            "float": f"CAST({quoted} AS FLOAT)",
            "double": f"CAST({quoted} AS DOUBLE)",
            "date": f"DATE {quoted}",
            "timestamp": self.instant.format(text=quoted),
            "timestamp_ntz": self.local_time.format(text=quoted),
        }
        return forms.get(literal.kind, quoted)


SPARK = SQLDialect(
    quote="`",
    # Before Spark 4 two quotes are two texts side by side.
    escapes={"\\": "\\\\", "'": "\\'"},
    instant="TIMESTAMP {text}",
    local_time="TIMESTAMP_NTZ {text}",
)
"""What deltaweb reads, too."""

DUCKDB = SQLDialect(
    quote='"',
    escapes={"'": "''"},
    instant="TIMESTAMPTZ {text}",
    local_time="TIMESTAMP {text}",
)

DATAFUSION = SQLDialect(
    quote='"',
    escapes={"'": "''"},
    # Its own literal counts nanoseconds, which end in 2262.
    instant="arrow_cast({text}, 'Timestamp(Microsecond, Some(\"UTC\"))')",
    local_time="arrow_cast({text}, 'Timestamp(Microsecond, None)')",
)
"""What `deltalake` reads as the predicate of a scan."""
