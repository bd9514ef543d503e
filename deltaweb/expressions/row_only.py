"""Expressions that reach beyond their row: to queries, files, settings or Java.

Spark would evaluate them with the rights of the process that runs it. Anybody may write
an expression into the log of a table, and editors send them by HTTP. So an expression
may use the columns of its row and functions of values, and nothing else.
"""

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from deltaweb.expressions.errors import NotOfRowError

QUERY: Final = "it holds a query, and an expression may read only its row"
_STATEMENTS: Final = (exp.From, exp.With, exp.DML, exp.DDL, exp.Command, exp.Describe)
_RELATIONS: Final = (exp.Selectable, *_STATEMENTS)
_PARAMETERS: Final = (exp.Parameter, exp.SessionParameter, exp.Placeholder)
_OPENS_ADDRESSES: Final = "opens the files and addresses that its XML names"
_READS_FILE: Final = "reads a file of the server"
_CALLS_JAVA: Final = "calls any method of Java"
_READS_OPTIONS: Final = "with options reads a file or an address"
_TABLE_FUNCTION: Final = "is a table function, and makes rows of a row"
_REASONS: Final = {
    "from_protobuf to_protobuf read_files": _READS_FILE,
    "reflect try_reflect java_method": _CALLS_JAVA,
    "xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number"
    " xpath_short xpath_string": _OPENS_ADDRESSES,
    "identifier table": "makes a name of a text",
    "collations explode explode_outer inline inline_outer json_tuple posexplode"
    " posexplode_outer python_worker_logs range sql_keywords stack variant_explode"
    " variant_explode_outer": _TABLE_FUNCTION,
}
OUTSIDE: Final = {
    name: reason for names, reason in _REASONS.items() for name in names.split()
}
"""Why a function cannot be used, by its name."""
MOST_ARGUMENTS: Final = {"from_avro": 2, "from_xml": 2, "schema_of_xml": 1}
"""Functions whose further argument, options, can name a file."""
TAKES_SCHEMA_LAST: Final = frozenset({"try_variant_get", "variant_get"})
"""Functions whose third argument is a type."""
TAKES_SCHEMA: Final = TAKES_SCHEMA_LAST | {"from_csv", "from_json", "from_xml"}
"""Functions that read a type from a text.

Spark takes JSON there too. JSON can name a class, which is loaded, or a default value,
which is SQL that no barrier sees.
"""
MAKES_SCHEMA: Final = frozenset({"schema_of_csv", "schema_of_json", "schema_of_xml"})
"""Functions whose value is a type in SQL."""
SCHEMA_UNSEEN: Final = "takes a type that is not written out in SQL"


def refuse_outside(sql: str, tree: exp.Expr) -> None:
    """Refuse an expression that reaches beyond its row."""
    for node in tree.walk():
        if isinstance(node, exp.UDTF) and isinstance(node, exp.Func):
            reason = f"{node.sql_name().lower()} {_TABLE_FUNCTION}"
            raise NotOfRowError(sql=sql, reason=reason)
        if isinstance(node, _RELATIONS):
            raise NotOfRowError(sql=sql, reason=QUERY)
        if isinstance(node, _PARAMETERS):
            raise NotOfRowError(sql=sql, reason="it has a parameter without a value")
        if isinstance(node, exp.Anonymous):
            refuse_function(sql, node.name, len(node.expressions))


def refuse_function(sql: str, name: str, num_arguments: int) -> None:
    """Refuse a function that reaches beyond the row."""
    called = name.lower()
    reason = OUTSIDE.get(called)
    if num_arguments > MOST_ARGUMENTS.get(called, num_arguments):
        reason = _READS_OPTIONS
    if reason is not None:
        raise NotOfRowError(sql=sql, reason=f"{called} {reason}")


def named_outside(sql: str) -> Iterator[str]:
    """Yield the functions to refuse whose names occur anywhere in a text."""
    lowered = sql.lower()
    names = (*OUTSIDE, *MOST_ARGUMENTS, *TAKES_SCHEMA)
    yield from (name for name in names if name in lowered)
