"""Quoted texts of SQL that are not the same to all clients."""

from sqlglot import TokenType

from deltaweb.delta.column_path import resolve_column
from deltaweb.delta.errors import ColumnNotFoundError, PredicateError
from deltaweb.delta.schema import StructType
from deltaweb.sharing.sql_text import SQLText


def other_texts(sql: SQLText, schema: StructType) -> dict[str, str]:
    r"""What texts are to clients that take a backslash as it is.

    Only a `\'` is a quote to everybody that writes it.

    Raises:
        PredicateError: A text in double quotes may be the name of a column.
    """
    others: dict[str, str] = {}
    for token in sql.tokens:
        if token.token_type != TokenType.STRING:
            continue
        written = sql.text[token.start + 1 : token.end]
        if sql.text[token.start : token.start + 1] == '"':
            _check_no_column(schema, token.text)
        if "\\" in written.replace("\\'", ""):
            others[token.text] = written.replace("\\'", "'").replace("''", "'")
    return {text: other for text, other in others.items() if text != other}


def _check_no_column(schema: StructType, text: str) -> None:
    try:
        resolve_column(schema, text)
    except ColumnNotFoundError:
        return
    reason = f'"{text[:40]}" in double quotes may be a text or a column'
    raise PredicateError(reason=reason)
