"""Conditions on rows in the SQL of four readers, each with its own literals."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias

Operand: TypeAlias = bool | int | Decimal | date | datetime | str
"""What a column is compared with; a moment without a zone is a `timestamp_ntz`."""

OPERATORS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
WITHOUT_VALUE = {"null": "IS NULL", "notnull": "IS NOT NULL"}
_WILDCARDS: Mapping[str, str] = {character: f"\\{character}" for character in "\\%_"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLDialect:
    """How one reader writes names and values.

    Attributes:
        quote: The character around a name, doubled where the name holds it.
        escapes: What a text in single quotes writes for some characters.
        instant, local_time: How a moment with and without a zone is written.
        floats: How a number is written that is compared with a `float` or a `double`,
            which another type would widen.
        contains: How a text in a text is asked for.
    """

    quote: str
    escapes: Mapping[str, str]
    instant: str
    local_time: str
    floats: Mapping[str, str] = field(default_factory=dict)
    contains: str = "contains({name}, {value})"

    def name(self, name: str) -> str:
        """Return a column's name, quoted."""
        return f"{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"

    def text(self, text: str) -> str:
        """Return a literal of a text."""
        return f"'{_escaped(text, self.escapes)}'"

    def condition(
        self, column: str, operator: str, operand: Operand | None, type_name: str
    ) -> str:
        """Return a condition on a column.

        Args:
            column: Its name, quoted, or what else has its values.
            operator: As the address has it: `eq`, `contains`, `null`.
            operand: What it is compared with; None where nothing is.
            type_name: The column's type by the protocol's name.
        """
        if operand is None:
            return f"{column} {WITHOUT_VALUE[operator]}"
        if operator == "contains":
            text = str(operand)
            pattern = self.text(f"%{_escaped(text, _WILDCARDS)}%")
            return self.contains.format(
                name=column, value=self.text(text), pattern=pattern
            )
        return f"{column} {OPERATORS[operator]} {self.literal(operand, type_name)}"

    def literal(self, operand: Operand, type_name: str) -> str:
        """Return a literal of the type that the column has."""
        match operand:
            case bool():
                return str(operand).upper()
            case int():
                return str(operand)
            case Decimal():
                form = self.floats.get(type_name, "{number:f}")
                return form.format(number=operand, float=float(operand))
            case date():
                return self._moment(operand)
            case _:
                return self.text(operand)

    def _moment(self, moment: date) -> str:
        if not isinstance(moment, datetime):
            return f"DATE '{moment.isoformat()}'"
        form = self.instant if moment.tzinfo else self.local_time
        text = moment.isoformat(sep=" ").replace("+00:00", "Z")
        return form.format(text=f"'{text}'")


_FLOATS: Mapping[str, str] = {
    "float": "CAST('{float!r}' AS FLOAT)",
    "double": "CAST('{float!r}' AS DOUBLE)",
}


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)


DELTAWEB = SQLDialect(
    quote="`",
    escapes={"\\": "\\\\", "'": "''"},
    instant="TIMESTAMP {text}",
    local_time="TIMESTAMP_NTZ {text}",
    floats=_FLOATS,
    contains="{name} LIKE {pattern}",
)
"""What `deltaweb table rows --where` and a job read."""

SPARK = SQLDialect(
    quote="`",
    # Before Spark 4 two quotes are two texts side by side.
    escapes={"\\": "\\\\", "'": "\\'"},
    instant="TIMESTAMP {text}",
    local_time="TIMESTAMP_NTZ {text}",
    floats=_FLOATS,
)

DUCKDB = SQLDialect(
    quote='"',
    escapes={"'": "''"},
    instant="TIMESTAMPTZ {text}",
    local_time="TIMESTAMP {text}",
    floats=_FLOATS,
)

DATAFUSION = SQLDialect(
    quote='"',
    escapes={"'": "''"},
    # Its own literal counts nanoseconds, which end in 2262.
    instant="arrow_cast({text}, 'Timestamp(Microsecond, Some(\"UTC\"))')",
    local_time="arrow_cast({text}, 'Timestamp(Microsecond, None)')",
    floats=_FLOATS,
)
"""What `deltalake` reads as the predicate of a scan."""


def sql_table(location: str) -> str:
    """Return a table by its location, as SQL names it."""
    return f"delta.{SPARK.name(spark_location(location))}"


def spark_location(location: str) -> str:
    """Return a location as Hadoop's file systems take it: `s3a` is the one for S3."""
    return f"s3a{location[2:]}" if location.startswith("s3://") else location
