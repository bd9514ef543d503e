"""Tables of delta-spark: columns, values and what becomes of them."""

from typing import Final

from tests.recorded.recipe import CHECKPOINT, Recipe, properties

MAPPED: Final = properties(columnMapping__mode="name")
WIDENING: Final = properties(
    enableTypeWidening="true", feature__timestampNtz="supported"
)
ROWS: Final = "INSERT INTO {t} SELECT id, concat('v', id), id % 3 FROM range(%d, %d)"
PLAIN: Final = "CREATE TABLE {t} (id BIGINT, v STRING, p BIGINT) USING delta "


def rows(first: int, end: int) -> str:
    """Return the statement that adds rows of a plain table."""
    return ROWS.replace("%d, %d", f"{first}, {end}, 1, 1")


NESTED: Final = (
    "s STRUCT<x: INT, deep: STRUCT<y: STRING, z: ARRAY<INT>>>, "
    "l ARRAY<STRUCT<a: INT, b: STRING>>, "
    "m MAP<STRING, STRUCT<k: INT, w: DECIMAL(9, 2)>>"
)
NESTED_ROWS: Final = (
    "INSERT INTO {t} VALUES "
    "(1, named_struct('x', 1, 'deep', named_struct('y', 'a', 'z', array(1, NULL))),"
    " array(named_struct('a', 1, 'b', 'x'), NULL),"
    " map('k', named_struct('k', 1, 'w', 1.25))), "
    "(2, NULL, array(), map()), "
    "(3, named_struct('x', NULL, 'deep', NULL), NULL, map('n', NULL)), "
    "(4, named_struct('x', 4, 'deep', named_struct('y', NULL, 'z', NULL)),"
    " array(named_struct('a', NULL, 'b', NULL)), NULL)"
)

TABLES: Final = {
    "partitions-odd": Recipe(
        "texts that a path must spell otherwise, NULL and the empty text",
        (
            (
                "CREATE TABLE {t} (id INT, p STRING, q INT) USING delta"
                " PARTITIONED BY (p, q)"
            ),
            (
                "INSERT INTO {t} VALUES (1, 'a b', 1), (2, 'ü/%', 2), (3, 'x=y', NULL),"
                " (4, NULL, 4), (5, '', 5), (6, '+', 6), (7, '#?&', 7), (8, '%25', 8)"
            ),
            (
                "INSERT INTO {t} VALUES (9, 'a:b', -1), (10, '\"q\"', 0), (11, '日本',"
                " 1),"
                " (12, '__HIVE_DEFAULT_PARTITION__', 1), (13, 'z.', 2), (14, '{}', 3)"
            ),
            "DELETE FROM {t} WHERE p = 'x=y'",
        ),
    ),
    "partition-types": Recipe(
        "a partition column of each type, and rows of NULLs alone",
        (
            (
                "CREATE TABLE {t} (id INT, bo BOOLEAN, ti TINYINT, sm SMALLINT, bi"
                " BIGINT,"
                " fl FLOAT, do DOUBLE, de DECIMAL(10, 3), da DATE, ts TIMESTAMP,"
                " nt TIMESTAMP_NTZ, tx STRING, by BINARY) USING delta"
                " PARTITIONED BY (bo, ti, sm, bi, fl, do, de, da, ts, nt, tx, by)"
            ),
            (
                "INSERT INTO {t} VALUES (1, true, 127, -32768, 9223372036854775807,"
                " 1.5,"
                " -0.25, 1234567.125, DATE'2024-02-29', TIMESTAMP'2024-03-10"
                " 07:00:00.123456Z',"
                " TIMESTAMP_NTZ'1969-12-31 23:59:59.999999', 'x', X'4142'),"
                " (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,"
                " NULL), (3, false, -128, 0, 0, 0, 0, 0, DATE'1900-01-01',"
                " TIMESTAMP'1970-01-01 00:00:00Z', TIMESTAMP_NTZ'2024-01-01 00:00:00',"
                " 'ü', X'41')"
            ),
        ),
    ),
    "mapped-by-name": Recipe(
        "columns and fields renamed, dropped and added again, partition renamed",
        (
            (
                "CREATE TABLE {t} (id INT, a STRING, s STRUCT<x: INT, y: INT>, p"
                " STRING)"
                f" USING delta PARTITIONED BY (p) {MAPPED}"
            ),
            (
                "INSERT INTO {t} VALUES (1, 'a', named_struct('x', 1, 'y', 2), 'p'),"
                " (2, NULL, NULL, NULL)"
            ),
            "ALTER TABLE {t} RENAME COLUMN a TO b",
            "ALTER TABLE {t} RENAME COLUMN s.x TO z",
            "ALTER TABLE {t} RENAME COLUMN p TO part",
            "ALTER TABLE {t} DROP COLUMN b",
            "ALTER TABLE {t} ADD COLUMNS (b STRING, s.x INT)",
            (
                "INSERT INTO {t} (id, s, part, b) VALUES"
                " (3, named_struct('z', 5, 'y', 6, 'x', 7), 'q', 'new')"
            ),
            "UPDATE {t} SET b = 'old' WHERE id = 1",
        ),
    ),
    "mapped-by-id": Recipe(
        "columns by their ids, a renamed one, and names with signs",
        (
            (
                "CREATE TABLE {t} (id INT, `a b` STRING, `c,d;e` INT, `x.y` DOUBLE)"
                f" USING delta {properties(columnMapping__mode='id')}"
            ),
            "INSERT INTO {t} VALUES (1, 'a', 1, 1.5), (2, NULL, NULL, NULL)",
            "ALTER TABLE {t} RENAME COLUMN `a b` TO `ü {}=()`",
            "INSERT INTO {t} VALUES (3, 'b', 3, 'NaN')",
            "DELETE FROM {t} WHERE id = 2",
        ),
    ),
    "mapped-exchanged": Recipe(
        "a plain table that is mapped later, whose names are then exchanged",
        (
            (
                "CREATE TABLE {t} (id INT, a STRING, b STRING, s STRUCT<x: INT, y:"
                " INT>)"
                " USING delta"
            ),
            "INSERT INTO {t} VALUES (1, 'a', 'b', named_struct('x', 1, 'y', 2))",
            f"ALTER TABLE {{t}} SET {MAPPED}",
            *(
                f"ALTER TABLE {{t}} RENAME COLUMN {before} TO {after}"
                for before, after in (
                    *(("a", "t"), ("b", "a"), ("t", "b")),
                    *(("s.x", "t"), ("s.y", "x"), ("s.t", "y")),
                )
            ),
            "INSERT INTO {t} VALUES (2, 'a2', 'b2', named_struct('y', 10, 'x', 20))",
        ),
    ),
    "mapped-nested": Recipe(
        "structs in structs, lists and maps of a mapped table",
        (
            f"CREATE TABLE {{t}} (id INT, {NESTED}) USING delta {MAPPED}",
            NESTED_ROWS,
            "ALTER TABLE {t} RENAME COLUMN s.deep.y TO why",
            "ALTER TABLE {t} RENAME COLUMN l.element.b TO bee",
            "ALTER TABLE {t} RENAME COLUMN m.value.w TO wide",
            "UPDATE {t} SET id = 10 WHERE id = 1",
        ),
    ),
    "nested": Recipe(
        "structs in structs, lists and maps, NULL at every depth",
        (f"CREATE TABLE {{t}} (id INT, {NESTED}) USING delta", NESTED_ROWS),
    ),
    "null-structs": Recipe(
        "NULL structs, structs of NULLs, and fields that may not be NULL",
        (
            (
                "CREATE TABLE {t} (id INT NOT NULL, s STRUCT<a: INT, b: STRUCT<c:"
                " INT>>,"
                " n STRUCT<r: INT NOT NULL>) USING delta"
            ),
            (
                "INSERT INTO {t} VALUES (1, NULL, named_struct('r', 1)),"
                " (2, named_struct('a', NULL, 'b', NULL), named_struct('r', 2)),"
                " (3, named_struct('a', 1, 'b', named_struct('c', NULL)),"
                " named_struct('r', 3))"
            ),
            "UPDATE {t} SET s = NULL WHERE id = 3",
            "UPDATE {t} SET s.b.c = 9 WHERE id < 3",
        ),
    ),
    "types": Recipe(
        "each plain type, with its least and greatest values",
        (
            (
                "CREATE TABLE {t} (id INT, bo BOOLEAN, ti TINYINT, sm SMALLINT, i INT,"
                " bi BIGINT, fl FLOAT, do DOUBLE, da DATE, ts TIMESTAMP, tx STRING,"
                " by BINARY) USING delta"
            ),
            (
                "INSERT INTO {t} VALUES (1, true, -128, -32768, -2147483648,"
                " -9223372036854775808, FLOAT('-Infinity'), DOUBLE('NaN'),"
                " DATE'0001-01-01',"
                " TIMESTAMP'0001-01-01 00:00:00Z', '', X''),"
                " (2, false, 127, 32767, 2147483647, 9223372036854775807,"
                " FLOAT(3.4028235E38),"
                " 1.7976931348623157E308, DATE'9999-12-31',"
                " TIMESTAMP'9999-12-31 23:59:59.999999Z', '\\u0000 😀 \\n', X'4142'),"
                " (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,"
                " NULL),"
                " (4, true, 0, 0, 0, 0, FLOAT('-0.0'), DOUBLE('-0.0'),"
                " DATE'1582-10-15',"
                " TIMESTAMP'1969-12-31 23:59:59.999999Z', repeat('long ', 20), X'41')"
            ),
        ),
        misread="deltalake has INT96 as nanoseconds, which end in the year 2262",
    ),
    "decimals": Recipe(
        "decimals of each storage: 4, 8 and 16 bytes, at their bounds",
        (
            (
                "CREATE TABLE {t} (id INT, a DECIMAL(9, 2), b DECIMAL(18, 9),"
                " c DECIMAL(38, 18), d DECIMAL(38, 0), e DECIMAL(5, 5)) USING delta"
            ),
            (
                "INSERT INTO {t} VALUES (1, 9999999.99, 999999999.999999999,"
                " 99999999999999999999.999999999999999999, "
                "99999999999999999999999999999999999999, 0.99999),"
                " (2, -9999999.99, -0.000000001, -0.000000000000000001,"
                " -99999999999999999999999999999999999999, -0.00001),"
                " (3, NULL, NULL, NULL, NULL, NULL), (4, 0, 0, 0, 0, 0)"
            ),
            "DELETE FROM {t} WHERE a < 0",
        ),
    ),
    "local-times": Recipe(
        "timestamps with and without a zone, and a time that a zone leaves out",
        (
            "CREATE TABLE {t} (id INT, n TIMESTAMP_NTZ, z TIMESTAMP) USING delta",
            (
                "INSERT INTO {t} VALUES (1, TIMESTAMP_NTZ'2024-03-10 02:30:00',"
                " TIMESTAMP'2024-03-10 10:30:00Z'), (2, NULL, NULL),"
                " (3, TIMESTAMP_NTZ'0001-01-01 00:00:00.000001',"
                " TIMESTAMP'2024-11-03 06:30:00.5Z')"
            ),
        ),
    ),
    "variants": Recipe(
        "variants of each kind, alone and in a struct",
        (
            "CREATE TABLE {t} (id INT, v VARIANT, s STRUCT<v: VARIANT>) USING delta",
            (
                "INSERT INTO {t} SELECT id, parse_json(t), named_struct('v',"
                " parse_json(t))"
                " FROM VALUES (1, '{\"a\": 1, \"b\": [1, null]}'), (2, 'null'),"
                " (3, NULL), (4, '\"text ü\"'), (5, '1.50'), (6, 'true') AS t(id, t)"
            ),
            "DELETE FROM {t} WHERE id = 6",
        ),
        variants=("v", "s.v"),
    ),
    "void": Recipe(
        "a column without a type, which later has rows",
        (
            "CREATE TABLE {t} USING delta AS SELECT 1 AS id, NULL AS nothing",
            "INSERT INTO {t} (id) VALUES (2)",
        ),
    ),
    "widened": Recipe(
        "types that were widened, with files of before and after",
        (
            (
                "CREATE TABLE {t} (id INT, b TINYINT, i INT, f FLOAT, de DECIMAL(5, 2),"
                " da DATE, a ARRAY<SMALLINT>, m MAP<INT, SMALLINT>, s STRUCT<x: INT>,"
                f" p INT) USING delta PARTITIONED BY (p)"
                f" {WIDENING}"
            ),
            (
                "INSERT INTO {t} VALUES (1, 1, 2, 1.5, 1.25, DATE'2024-02-29',"
                " array(1S),"
                " map(1, 2S), named_struct('x', 3), 4)"
            ),
            *(
                f"ALTER TABLE {{t}} ALTER COLUMN {part} TYPE {kind}"
                for part, kind in {
                    "b": "INT",
                    "i": "BIGINT",
                    "f": "DOUBLE",
                    "de": "DECIMAL(12, 4)",
                    "da": "TIMESTAMP_NTZ",
                    "a.element": "BIGINT",
                    "m.key": "BIGINT",
                    "m.value": "INT",
                    "s.x": "DOUBLE",
                    "p": "BIGINT",
                }.items()
            ),
            (
                "INSERT INTO {t} VALUES (2, 70000, 3000000000, 1e300, 12345678.1234,"
                " TIMESTAMP_NTZ'2024-01-01 12:00:00', array(5000000000L),"
                " map(6000000000L, 70000), named_struct('x', 0.5D), 7000000000)"
            ),
        ),
    ),
    "schema-evolved": Recipe(
        "columns that are added, moved and commented, and a checkpoint after that",
        (
            PLAIN,
            rows(0, 3),
            "ALTER TABLE {t} ADD COLUMNS (n STRUCT<a: INT> COMMENT 'nested' AFTER v)",
            "INSERT INTO {t} VALUES (10, 'ten', named_struct('a', 1), 1)",
            "ALTER TABLE {t} ADD COLUMNS (n.b STRING)",
            "ALTER TABLE {t} ALTER COLUMN p FIRST",
            CHECKPOINT,
            "INSERT INTO {t} VALUES (2, 11, 'eleven', named_struct('a', 2, 'b', 'x'))",
            "COMMENT ON TABLE {t} IS 'evolved'",
        ),
    ),
    "empty": Recipe("a schema and no rows", (f"{PLAIN} PARTITIONED BY (p)",)),
}
