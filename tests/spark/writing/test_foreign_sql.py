"""SQL texts of editors and of logs read nothing but their row."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from sqlglot import exp

from deltaweb.conditions.sql_text import SQLText
from deltaweb.expressions.errors import ExpressionMistakenError, NotOfRowError
from tests.spark.writing.changed_tables import make_table, rows_of, write_rule
from tests.support import cases
from tests.support.files.watched_files import Watched, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from deltaweb.table import DeltaTable

QUERY = "(SELECT max(value) FROM text.`{file}`)"
OUTSIDE = [
    QUERY,
    "(SELECT count(*) FROM binaryFile.`{folder}/*`) > 0",
    "s IN (SELECT value FROM csv.`{file}`)",
    "EXISTS (SELECT 1 FROM json.`{file}`)",
    "(TABLE text.`{file}`) = s",
    "(FROM text.`{file}` |> LIMIT 1) = s",
    "(WITH t AS (SELECT * FROM text.`{file}`) SELECT max(value) FROM t) = s",
    "(SELECT max(value) FROM text.`{url}`) = s",
    "(SELECT max(value) FROM IDENTIFIER('text.`{file}`')) = s",
    "exists(array(s), x -> x = (SELECT max(value) FROM text.`{file}`))",
    "CASE WHEN n > 0 THEN (SELECT max(value) FROM text.`{file}`) END = s",
    "named_struct('a', (SELECT max(value) FROM text.`{file}`)).a = s",
    "CAST((SELECT max(value) FROM text.`{file}`) AS STRING) = s",
    "sum(n) OVER (ORDER BY (SELECT max(value) FROM text.`{file}`)) > 0",
    "n = 1 /* */ OR s = (SELECT /*+ BROADCAST(t) */ max(value) FROM text.`{file}` t)",
    "from_xml('<a>1</a>', 'a INT', map('rowValidationXSDPath', '{file}')).a = 1",
    "from_xml('<a>1</a>', 'a INT', map('rowValidationXSDPath', '{url}')).a = 1",
    "schema_of_xml('<a>1</a>', map('rowValidationXSDPath', '{file}')) = s",
    "xpath_string('<!DOCTYPE a SYSTEM \"{url}\"><a>1</a>', 'a') = s",
    "xpath_string('<!DOCTYPE a SYSTEM \"file:{file}\"><a>1</a>', 'a') = s",
    "reflect('java.nio.file.Files', 'readString', '{file}') = s",
    "java_method('java.lang.System', 'getenv', 'PATH') = s",
    "system.builtin.`try_reflect`('java.lang.System', 'getenv', 'PATH') = s",
    "IDENTIFIER('reflect')('java.lang.System', 'getenv', 'PATH') = s",
    "identifier('s') = 's1'",
    "from_protobuf(CAST(s AS BINARY), 'A', '{file}') IS NULL",
    "explode(array(n)) = 1",
    "sum(n) = 1",
    "row_number() OVER (ORDER BY n) = 1",
    "window(TIMESTAMP '2024-01-01', '1 day') IS NULL",
    "n = :n",
    "x -> x",
]
IN_ROW = [
    "exists(array(s), x -> x = 's1')",
    "s LIKE ANY ('s1', 's2%')",
    "from_xml('<p><a>1</a></p>', 'a INT').a = 1",
    "from_json('{{\"a\": 1}}', 'a INT').a = 1",
    "from_json('{{\"a\": 1}}', schema_of_json('{{\"a\": 1}}')).a = 1",
    "variant_get(parse_json('{{\"a\": 1}}'), '$.a', 'INT') = 1",
    "variant_get(parse_json('1'), '$') IS NOT NULL",
    "text_of(s) = 's1!'",
    "hash(n) = hash(1L) AND s = '${{env:PATH}}'",
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with watched(tmp_path_factory.mktemp("watched") / "of_others") as place:
        yield place


@pytest.fixture(scope="module")
def own(spark: "SparkSession") -> "SparkSession":
    """A session as a user has it: with a function, and all that Spark allows."""
    session = spark.newSession()
    session.conf.set("spark.sql.runSQLOnFiles", "true")
    session.conf.set("spark.sql.variable.substitute", "true")
    session.udf.register("text_of", lambda text: f"{text}!")
    return session


def written(sql: str, place: Watched) -> str:
    return sql.format(file=place.file, folder=place.file.parent, url=place.url)


def test_accesses_are_noticed(own: "SparkSession", place: Watched) -> None:
    found = own.sql(written(f"SELECT {QUERY} AS secret", place)).first()

    assert found is not None
    assert found.secret == "the secret line"
    assert place.accesses() == ["the file system"]
    host, port = urlsplit(place.url).netloc.split(":")
    with socket.create_connection((host, int(port))):
        assert place.accesses() == ["the port"]


@pytest.mark.parametrize("sql", OUTSIDE)
def test_nothing_is_opened_by_a_text(
    own: "SparkSession", place: Watched, sql: str
) -> None:
    from deltaweb.spark.writing.session.checked_sql import sql_column

    rows = own.createDataFrame([(1, "s1")], "n BIGINT, s STRING")

    with pytest.raises(ExpressionMistakenError) as raised:
        sql_column(rows, written(sql, place))

    assert place.accesses() == []
    assert raised.value.reason


@pytest.mark.parametrize("sql", OUTSIDE)
def test_sparks_own_parser_is_asked_too(
    own: "SparkSession", place: Watched, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    """Also what our parser would read otherwise than Spark's is refused."""
    from deltaweb.spark.writing.session import checked_sql

    read = SQLText("", (), exp.true())
    monkeypatch.setattr(checked_sql, "parse_expression", lambda _: read)
    rows = own.createDataFrame([(1, "s1")], "n BIGINT, s STRING")

    with pytest.raises(ExpressionMistakenError):
        checked_sql.sql_column(rows, written(sql, place))

    assert place.accesses() == []


def test_a_query_that_the_analyzer_adds_is_refused(
    own: "SparkSession", place: Watched
) -> None:
    from deltaweb.spark.writing.session.checked_sql import sql_column

    body = written(QUERY, place)
    own.sql(f"CREATE TEMPORARY FUNCTION told() RETURNS STRING RETURN {body}")
    own.sql("CREATE TEMPORARY FUNCTION twice(x BIGINT) RETURNS BIGINT RETURN 2 * x")
    rows = own.createDataFrame([(1, "s1")], "n BIGINT, s STRING")

    with pytest.raises(NotOfRowError, match=r"holds a query|not a value of each row"):
        sql_column(rows, "told() = s")

    assert rows.select(sql_column(rows, "twice(n)").alias("v")).collect()[0].v == 2


DEFAULT = """xpath_string('<!DOCTYPE a SYSTEM "{url}"><a>1</a>', 'a')"""
LOADED = {"type": "udt", "class": "java.util.Random", "sqlType": "string"}


@cases(
    "of, kind, facts",
    {
        "a default": ("from_json('{{}}', {})", "string", {"EXISTS_DEFAULT": DEFAULT}),
        "a class": ("from_json('{{}}', {})", LOADED, {}),
        "a class of CSV": ("from_csv('1', {})", LOADED, {}),
        "a class of XML": ("from_xml('<p><a>1</a></p>', {})", LOADED, {}),
        "a class of a variant": ("variant_get(parse_json('1'), '$', {})", LOADED, {}),
        "a type in parts": ("from_json('{{}}', concat('', {}))", LOADED, {}),
        "a type by its name": ("from_json(schema => {}, json => s)", LOADED, {}),
    },
)
def test_a_type_in_json_is_refused(
    own: "SparkSession", place: Watched, of: str, kind: object, facts: dict[str, str]
) -> None:
    """It can name a class to load, and SQL of a default that no barrier has seen."""
    from deltaweb.spark.writing.session.checked_sql import sql_column

    rows = own.createDataFrame([(1, "s1")], "n BIGINT, s STRING")
    metadata = {key: sql.format(url=place.url) for key, sql in facts.items()}
    field = {"name": "a", "type": kind, "nullable": True, "metadata": metadata}
    text = json.dumps({"type": "struct", "fields": [field]})
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")

    with pytest.raises(NotOfRowError, match="a type that is not written out in SQL"):
        rows.select(sql_column(rows, of.format(f"'{quoted}'"))).collect()

    assert place.accesses() == []


@pytest.mark.parametrize("variable", ["env:PATH", "spark.app.name", "system:user.home"])
def test_no_variable_is_put_into_a_text(own: "SparkSession", variable: str) -> None:
    from deltaweb.spark.writing.session.checked_sql import sql_column

    rows = own.createDataFrame([(1, "s1")], "n BIGINT, s STRING")

    with pytest.raises(NotOfRowError, match="setting or a variable"):
        sql_column(rows, f"concat('${{{variable}}}', s)")


def test_our_own_sessions_read_no_files_by_sql(
    spark: "SparkSession", place: Watched
) -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException):
        spark.sql(written(f"SELECT {QUERY}", place))

    assert place.accesses() == []
    assert spark.sql("SELECT '${env:PATH}' AS v").collect()[0].v == "${env:PATH}"


@pytest.mark.parametrize("sql", IN_ROW)
def test_values_of_the_row_are_evaluated(
    spark: "SparkSession", own: "SparkSession", sql: str
) -> None:
    from deltaweb.spark.writing.session.checked_sql import is_true

    session = own if "text_of" in sql else spark
    rows = session.createDataFrame([(1, "s1")], "n BIGINT, s STRING")

    found = rows.where(is_true(rows, sql.format())).count()

    assert found == (0 if "PATH" in sql else 1)


# === What takes texts ===


Doing = Callable[["SparkSession", "DeltaTable", str], object]
SOURCE = pa.table({"n": [1, 50], "s": ["new", "new"], "p": ["x", "y"]})


def _write(spark: "SparkSession", table: "DeltaTable", sql: str) -> None:
    from deltaweb.spark import write_table

    rows = spark.createDataFrame([(60, "s60", "x")], "n BIGINT, s STRING, p STRING")
    where = f"hash(n) = 1 OR s = {sql}"
    write_table(rows, table.root, mode="overwrite", where=where)


def _merge(clause: str) -> Doing:
    def merge(spark: "SparkSession", table: "DeltaTable", sql: str) -> None:
        from deltaweb.spark import merge_rows

        source = spark.createDataFrame(SOURCE)
        on = f"t.n = s.n AND hash(t.n) <> 7 AND s.s <> {sql}"
        merging = merge_rows(spark, table.root, source, on if clause == "on" else ON)
        if clause == "condition":
            merging = merging.when_matched_delete(f"hash(t.n) = 7 OR t.s = {sql}")
        value = sql if clause == "value" else "s.s"
        merging = merging.when_matched_update({"s": f"concat({value}, hash(t.n))"})
        inserted = sql if clause == "inserted" else "s.s"
        merging.when_not_matched_insert(
            {"n": "s.n", "s": f"concat({inserted}, hash(s.n))", "p": "s.p"}
        ).execute()

    return merge


ON = "t.n = s.n AND hash(t.n) <> 7"


def _deletes(spark: "SparkSession", table: "DeltaTable", sql: str) -> None:
    from deltaweb.spark import delete_rows

    delete_rows(spark, table.root, f"hash(n) = 1 OR s = {sql}")


def _updates(spark: "SparkSession", table: "DeltaTable", sql: str) -> None:
    from deltaweb.spark import update_rows

    update_rows(spark, table.root, {"s": sql}, "hash(n) <> 1")


def _updates_where(spark: "SparkSession", table: "DeltaTable", sql: str) -> None:
    from deltaweb.spark import update_rows

    update_rows(spark, table.root, {"s": "'x'"}, f"s = {sql}")


def _reads(spark: "SparkSession", table: "DeltaTable", sql: str) -> None:
    from deltaweb.spark import read_table

    read_table(spark, table.root, where=f"s = {sql}").count()


def _appends(spark: "SparkSession", table: "DeltaTable") -> None:
    from deltaweb.spark import write_table

    rows = spark.createDataFrame([(60, "x")], "n BIGINT, p STRING")
    write_table(rows, table.root, mode="append")


def _obeys_a_rule(spark: "SparkSession", table: "DeltaTable", sql: str) -> None:
    write_rule(table, f"s <> {sql}")
    _appends(spark, table)


def _obeys_a_rule_updating(
    spark: "SparkSession", table: "DeltaTable", sql: str
) -> None:
    from deltaweb.spark import update_rows

    write_rule(table, f"s <> {sql}")
    update_rows(spark, table.root, {"n": "hash(n)"})


def _fills(key: str, features: list[str]) -> Doing:
    def fill(spark: "SparkSession", table: "DeltaTable", sql: str) -> None:
        _write_field(table, key, sql, features)
        _appends(spark, table)

    return fill


def _write_field(table: "DeltaTable", key: str, sql: str, features: list[str]) -> None:
    """Commit an expression of column `s`, as another writer does."""
    version = table.latest_version() + 1
    metadata: dict[str, Any] = next(
        action for action in table.read_commit(0) if "metaData" in action
    )
    schema = json.loads(metadata["metaData"]["schemaString"])
    schema["fields"][1]["metadata"] = {key: sql}
    metadata["metaData"]["schemaString"] = json.dumps(schema)
    versions: dict[str, Any] = {"minReaderVersion": 1, "minWriterVersion": 7}
    protocol = {"protocol": versions | {"writerFeatures": features}}
    path = Path(table.root) / f"_delta_log/{version:020}.json"
    path.write_text(f"{json.dumps(protocol)}\n{json.dumps(metadata)}\n")


@pytest.mark.parametrize("session", ["spark", "own"])
@cases(
    "do",
    {
        "delete": _deletes,
        "an assigned value": _updates,
        "an update's condition": _updates_where,
        "a merge's condition": _merge("on"),
        "a clause's condition": _merge("condition"),
        "a merged value": _merge("value"),
        "an inserted value": _merge("inserted"),
        "what is replaced": _write,
        "what is read": _reads,
        "a rule of the log": _obeys_a_rule,
        "a rule of the log in an update": _obeys_a_rule_updating,
        "a default": _fills("CURRENT_DEFAULT", ["allowColumnDefaults"]),
        "what is generated": _fills("delta.generationExpression", ["generatedColumns"]),
    },
)
def test_no_operation_reads_a_file_by_its_texts(
    request: pytest.FixtureRequest,
    place: Watched,
    tmp_path: Path,
    do: Doing,
    session: str,
) -> None:
    table = make_table(tmp_path / "t")
    before = rows_of(table)

    with pytest.raises(NotOfRowError, match="holds a query"):
        do(request.getfixturevalue(session), table, written(QUERY, place))

    assert rows_of(table) == before
    assert place.accesses() == []
