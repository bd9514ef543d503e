"""Expressions that read more than their row are evaluated by no engine."""

import pytest

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.expressions.compiler import parse_expression
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.errors import ExpressionMistakenError, NotOfRowError
from tests.support import cases

SCHEMA = StructType(parse_columns_ddl("n BIGINT, s STRING, many ARRAY<BIGINT>"))


@pytest.mark.parametrize(
    "sql",
    [
        "(SELECT max(value) FROM text.`/a/b`)",
        "s = (SELECT max(value) FROM text.`/a/b`)",
        "n IN (SELECT value FROM text.`/a/b`)",
        "(n, s) IN (SELECT 1, value FROM text.`/a/b`)",
        "EXISTS (SELECT 1 FROM text.`/a/b`)",
        "NOT EXISTS (FROM text.`/a/b`)",
        "s = ANY (SELECT value FROM text.`/a/b`)",
        "s >= ALL (SELECT value FROM text.`/a/b`)",
        "size(ARRAY(SELECT value FROM text.`/a/b`)) > 0",
        "CASE WHEN n = 1 THEN (SELECT value FROM text.`/a/b`) END = 'x'",
        "struct((SELECT value FROM text.`/a/b`)) IS NULL",
        "CAST((SELECT value FROM text.`/a/b`) AS BIGINT) = n",
        "(SELECT value FROM text.`/a/b`)::BIGINT = n",
        "exists(many, x -> x = (SELECT max(value) FROM text.`/a/b`))",
        "many[(SELECT 1 FROM text.`/a/b`)] = 1",
        "n BETWEEN (SELECT 1 FROM text.`/a/b`) AND 2",
        "extract(YEAR FROM (SELECT value FROM text.`/a/b`)) = 2000",
        "count(*) FILTER (WHERE s = (SELECT value FROM text.`/a/b`)) = 1",
        "sum(n) OVER (ORDER BY (SELECT value FROM text.`/a/b`)) = 1",
        "n IN (WITH t AS (SELECT * FROM text.`/a/b`) SELECT value FROM t)",
        "n IN (SELECT 1 UNION SELECT value FROM text.`/a/b`)",
        "(FROM text.`/a/b` |> AGGREGATE max(value)) = 's'",
        "n IN (VALUES 1)",
        "n = (VALUES (1))",
        "n /* SELECT */ IN (SELECT -- a comment\n 1)",
        "n = 1 EXCEPT SELECT 2",
    ],
)
def test_a_query_is_refused(sql: str) -> None:
    with pytest.raises(NotOfRowError, match="holds a query"):
        SQLCondition(sql, SCHEMA)


@pytest.mark.parametrize(
    "sql",
    [
        "n IN (TABLE text.`/a/b`)",
        "(TABLE text.`/a/b`) = 's'",
        "n = 1; SELECT 2",
        "LATERAL (SELECT 1)",
        "IDENTIFIER('ref' || 'lect')('java.lang.System', 'getenv')",
        "f(TABLE other)",
    ],
)
def test_what_our_parser_cannot_read_is_left_to_no_other(sql: str) -> None:
    with pytest.raises(ExpressionMistakenError, match=r"is not SQL|not one condition"):
        SQLCondition(sql, SCHEMA)


@cases(
    "sql, reason",
    {
        "Java": ("reflect('java.lang.System', 'getenv', 'HOME') = s", "of Java"),
        "Java by another name": ("java_method('a.B', 'c') = s", "java_method calls"),
        "Java in backticks": ("`Try_Reflect`('a.B', 'c') = s", "try_reflect calls"),
        "Java by a path": ("system.builtin.reflect('a.B', 'c') = s", "of Java"),
        "a document type": ("xpath_string(s, 'a') = 'x'", "addresses that its XML"),
        "a schema of XML": ("from_xml(s, 'a INT', map('b', 'c')).a = 1", "options"),
        "XML with options": ("schema_of_xml(s, map('b', 'c')) = 'x'", "options"),
        "Avro with options": ("from_avro(s, '', map('b', 'c')) = 1", "options"),
        "a descriptor": ("from_protobuf(s, 'A', '/etc/passwd') = 1", "reads a file"),
        "a name made of text": ("identifier('n') = 1", "makes a name"),
        "a table argument": ("f(TABLE(other)) = 1", "makes a name"),
        "rows": ("explode(many) = 1", "explode is a table function"),
        "rows of values": ("stack(2, 1, 2) = 1", "stack is a table function"),
        "rows in a function": ("coalesce(posexplode(many), 1) = 1", "table function"),
        "a named parameter": ("n = :n", "a parameter without a value"),
        "a parameter": ("n = ?", "a parameter without a value"),
        "a variable of a client": ("n = @n", "a parameter without a value"),
    },
)
def test_a_function_that_reaches_elsewhere_is_refused(sql: str, reason: str) -> None:
    with pytest.raises(NotOfRowError, match=reason):
        SQLCondition(sql, SCHEMA)


@pytest.mark.parametrize(
    "sql", ["(" * 21 + "n" + ")" * 21 + "= 1", "- " * 50 + "n = 1"]
)
def test_what_is_nested_too_deeply_is_left_to_no_other(sql: str) -> None:
    with pytest.raises(
        ExpressionMistakenError, match="deeper than 20 levels"
    ) as raised:
        SQLCondition(sql, SCHEMA)

    assert raised.value.hint == "Write it shorter."


@pytest.mark.parametrize(
    "sql",
    [
        "exists(many, x -> x > n)",
        "s LIKE ANY ('a%', 'b%')",
        "s LIKE ALL ('a%')",
        "n IN (1, 2, (3))",
        "from_xml(s, 'a INT').a = 1",
        "from_json(s, 'a INT', map('mode', 'FAILFAST')).a = 1",
        "text.`/etc/passwd` = 1",
        "s = 'SELECT 1 FROM t'",
        "`select` = n",
        "size(transform(array(n), x -> x + 1)) = 1",
        "some_function_of_a_cluster(n) = 1",
    ],
)
def test_values_of_the_row_stay_legal(sql: str) -> None:
    assert parse_expression(sql).text == sql
