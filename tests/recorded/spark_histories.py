"""Tables of delta-spark: vectors, checkpoints, feeds, rules and maintenance."""

from typing import Final

from tests.recorded.recipe import AGE, CHECKPOINT, Recipe, properties
from tests.recorded.spark_tables import PLAIN, rows

VECTORS: Final = properties(enableDeletionVectors="true")
NO_VECTORS: Final = properties(enableDeletionVectors="false")
FEED: Final = properties(enableChangeDataFeed="true", enableDeletionVectors="false")
V2: Final = properties(checkpointPolicy="v2")
MERGE: Final = (
    "MERGE INTO {t} AS t USING (SELECT id, concat('m', id) AS v, id % 3 AS p"
    " FROM range(2, 8, 1, 1)) AS s ON t.id = s.id"
    " WHEN MATCHED AND s.id = 2 THEN DELETE WHEN MATCHED THEN UPDATE SET *"
    " WHEN NOT MATCHED THEN INSERT *"
)
CHANGES: Final = (
    "UPDATE {t} SET v = 'changed' WHERE id = 1",
    "DELETE FROM {t} WHERE id = 0",
    MERGE,
)
NO_CHECK: Final = "SET spark.databricks.delta.retentionDurationCheck.enabled = false"
V2_FORMAT: Final = "SET spark.databricks.delta.checkpointV2.topLevelFileFormat = "
PART_SIZE: Final = "spark.databricks.delta.checkpoint.partSize"

TABLES: Final = {
    "vectors": Recipe(
        "deletion vectors by deletes, an update and a merge",
        (
            PLAIN + VECTORS,
            rows(0, 20),
            "DELETE FROM {t} WHERE id % 5 = 3",
            "DELETE FROM {t} WHERE id IN (7, 9)",
            *CHANGES,
        ),
    ),
    "vectors-mapped": Recipe(
        "deletion vectors of a mapped table with partitions, and a checkpoint",
        (
            PLAIN
            + "PARTITIONED BY (p) "
            + properties(enableDeletionVectors="true", columnMapping__mode="name"),
            rows(0, 12),
            "DELETE FROM {t} WHERE id IN (1, 2, 3)",
            "ALTER TABLE {t} RENAME COLUMN v TO w",
            CHECKPOINT,
            "DELETE FROM {t} WHERE w = 'v6'",
        ),
    ),
    "vectors-purged": Recipe(
        "deletion vectors that a purge takes away, and a feature that is dropped",
        (
            PLAIN + VECTORS,
            rows(0, 8),
            "DELETE FROM {t} WHERE id < 2",
            "REORG TABLE {t} APPLY (PURGE)",
            "ALTER TABLE {t} DROP FEATURE deletionVectors",
        ),
    ),
    "checkpoint-v2-json": Recipe(
        "a V2 checkpoint of JSON, with sidecars",
        (
            f"{V2_FORMAT}json",
            PLAIN + "PARTITIONED BY (p) " + V2,
            rows(0, 9),
            "DELETE FROM {t} WHERE p = 1",
            CHECKPOINT,
            rows(20, 23),
        ),
    ),
    "checkpoint-v2-parquet": Recipe(
        "a V2 checkpoint of Parquet, with several sidecars",
        (
            f"{V2_FORMAT}parquet",
            f"SET {PART_SIZE} = 2",
            PLAIN + "PARTITIONED BY (p) " + V2,
            rows(0, 9),
            rows(20, 29),
            "DELETE FROM {t} WHERE id = 4",
            CHECKPOINT,
            rows(40, 43),
            f"RESET {PART_SIZE}",
        ),
    ),
    "checkpoint-parts": Recipe(
        "a classic checkpoint in several parts",
        (
            f"SET {PART_SIZE} = 2",
            PLAIN + "PARTITIONED BY (p)",
            rows(0, 9),
            rows(20, 29),
            CHECKPOINT,
            "DELETE FROM {t} WHERE p = 0",
            f"RESET {PART_SIZE}",
        ),
    ),
    "checkpoint-typed": Recipe(
        "a checkpoint whose statistics have types alone",
        (
            PLAIN
            + "PARTITIONED BY (p) "
            + properties(
                checkpoint__writeStatsAsStruct="true",
                checkpoint__writeStatsAsJson="false",
            ),
            rows(0, 9),
            "UPDATE {t} SET v = NULL WHERE id = 4",
            CHECKPOINT,
            rows(10, 12),
        ),
    ),
    "log-cleaned": Recipe(
        "a log whose first commits a checkpoint has replaced",
        (
            PLAIN
            + properties(
                logRetentionDuration="interval 8 days",
                deletedFileRetentionDuration="interval 1 days",
            ),
            rows(0, 4),
            rows(4, 8),
            "DELETE FROM {t} WHERE id = 5",
            CHECKPOINT,
            AGE,
            rows(8, 10),
            CHECKPOINT,
            rows(10, 12),
        ),
    ),
    "feed": Recipe(
        "a change data feed of each statement",
        (PLAIN + FEED, rows(0, 5), *CHANGES, rows(10, 12)),
        changes=((0, 5), (2, 3), (4, 4)),
    ),
    "feed-mapped-vectors": Recipe(
        "a change data feed of a mapped table with vectors and partitions",
        (
            PLAIN
            + "PARTITIONED BY (p) "
            + properties(
                enableChangeDataFeed="true",
                enableDeletionVectors="true",
                columnMapping__mode="name",
            ),
            rows(0, 6),
            *CHANGES,
            "ALTER TABLE {t} RENAME COLUMN v TO w",
            "UPDATE {t} SET w = 'after' WHERE id = 5",
        ),
        changes=((0, 4), (6, 6)),
    ),
    "feed-later": Recipe(
        "a change data feed that is switched on after rows were written",
        (
            PLAIN,
            rows(0, 3),
            "ALTER TABLE {t} SET " + FEED,
            *CHANGES[:2],
            "INSERT OVERWRITE {t} VALUES (50, 'over', 2)",
        ),
        changes=((2, 5), (0, 3)),
    ),
    "generated": Recipe(
        "generated columns, one of them a partition, and defaults",
        (
            "CREATE TABLE {t} (id INT, ts TIMESTAMP, v STRING DEFAULT 'none',"
            " twice INT GENERATED ALWAYS AS (id * 2),"
            " day DATE GENERATED ALWAYS AS (CAST(ts AS DATE))) USING delta"
            " PARTITIONED BY (day) "
            + properties(feature__allowColumnDefaults="supported"),
            "INSERT INTO {t} (id, ts) VALUES (1, TIMESTAMP'2024-02-29 23:59:59Z')",
            (
                "INSERT INTO {t} (id, ts, v) VALUES (2, NULL, 'given'),"
                " (3, TIMESTAMP'1969-12-31 12:00:00Z', DEFAULT)"
            ),
            "UPDATE {t} SET id = 30 WHERE id = 3",
        ),
    ),
    "identity": Recipe(
        "columns that number rows, upwards and downwards",
        (
            (
                "CREATE TABLE {t} (k BIGINT GENERATED ALWAYS AS IDENTITY"
                " (START WITH 10 INCREMENT BY 5), d BIGINT GENERATED BY DEFAULT AS"
                " IDENTITY"
                " (INCREMENT BY -1), id INT) USING delta"
            ),
            "INSERT INTO {t} (id) VALUES (1), (2)",
            "INSERT INTO {t} (d, id) VALUES (100, 3)",
            "INSERT INTO {t} (id) VALUES (4)",
        ),
    ),
    "checks": Recipe(
        "CHECK constraints, one of them dropped, and a column without NULLs",
        (
            "CREATE TABLE {t} (id INT NOT NULL, v STRING, p INT) USING delta",
            "ALTER TABLE {t} ADD CONSTRAINT small CHECK (id < 100 AND p IS NOT NULL)",
            "ALTER TABLE {t} ADD CONSTRAINT short CHECK (v IS NULL OR length(v) < 9)",
            "INSERT INTO {t} VALUES (1, 'a', 1), (99, NULL, 2)",
            "ALTER TABLE {t} DROP CONSTRAINT short",
            "INSERT INTO {t} VALUES (2, 'longer than nine', 3)",
        ),
    ),
    "clustered": Recipe(
        "a clustered table, whose columns change, optimized",
        (
            PLAIN + "CLUSTER BY (v, p)",
            rows(0, 6),
            rows(6, 12),
            "OPTIMIZE {t}",
            "ALTER TABLE {t} CLUSTER BY (id)",
            "OPTIMIZE {t} FULL",
        ),
    ),
    "row-tracking": Recipe(
        "rows that are tracked through an update, a merge and OPTIMIZE",
        (
            PLAIN + properties(enableRowTracking="true"),
            rows(0, 4),
            *CHANGES,
            "OPTIMIZE {t}",
            CHECKPOINT,
        ),
    ),
    "in-commit-times": Recipe(
        "times in commits from the third commit on",
        (
            PLAIN,
            rows(0, 2),
            "ALTER TABLE {t} SET " + properties(enableInCommitTimestamps="true"),
            rows(2, 4),
            "DELETE FROM {t} WHERE id = 3",
        ),
    ),
    "vacuumed": Recipe(
        "a table whose older data is gone, and whose log is not",
        (
            NO_CHECK,
            PLAIN + NO_VECTORS,
            rows(0, 4),
            "DELETE FROM {t} WHERE id = 1",
            "UPDATE {t} SET v = 'new' WHERE id = 2",
            "VACUUM {t} RETAIN 0 HOURS",
            rows(4, 6),
        ),
    ),
    "restored": Recipe(
        "a version that was brought back",
        (
            PLAIN,
            rows(0, 4),
            "DELETE FROM {t} WHERE id < 3",
            "ALTER TABLE {t} ADD COLUMNS (more INT)",
            "RESTORE TABLE {t} TO VERSION AS OF 1",
            rows(4, 5),
        ),
    ),
    "optimized": Recipe(
        "small files that OPTIMIZE puts together, in Z-order and not",
        (
            PLAIN + "PARTITIONED BY (p)",
            rows(0, 6),
            rows(6, 12),
            "OPTIMIZE {t} WHERE p = 1",
            "OPTIMIZE {t} ZORDER BY (id, v)",
        ),
    ),
    "merged-evolved": Recipe(
        "a merge that adds a column and widens a struct",
        (
            "SET spark.databricks.delta.schema.autoMerge.enabled = true",
            "CREATE TABLE {t} (id INT, s STRUCT<a: INT>) USING delta",
            "INSERT INTO {t} VALUES (1, named_struct('a', 1)), (2, NULL)",
            (
                "MERGE INTO {t} AS t USING (SELECT * FROM VALUES"
                " (2, named_struct('a', 5, 'b', 'x'), 'n'),"
                " (3, named_struct('a', 6, 'b', 'y'), 'm') AS v(id, s, extra)) AS s"
                " ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"
                " WHEN NOT MATCHED THEN INSERT *"
            ),
            "RESET spark.databricks.delta.schema.autoMerge.enabled",
        ),
    ),
    "overwritten": Recipe(
        "partitions that are overwritten by a condition and by their values",
        (
            PLAIN + "PARTITIONED BY (p)",
            rows(0, 9),
            "INSERT INTO {t} REPLACE WHERE p = 1 VALUES (100, 'r', 1)",
            "SET spark.sql.sources.partitionOverwriteMode = dynamic",
            "INSERT OVERWRITE {t} VALUES (200, 'd', 2), (201, 'd', NULL)",
            "RESET spark.sql.sources.partitionOverwriteMode",
            "INSERT OVERWRITE {t} VALUES (300, 'all', 0)",
        ),
    ),
    "iceberg-compatible": Recipe(
        "a mapped table that Iceberg's readers can follow",
        (
            "CREATE TABLE {t} (id INT, l ARRAY<INT>, m MAP<STRING, INT>) USING delta "
            + properties(
                columnMapping__mode="name",
                enableIcebergCompatV2="true",
                enableDeletionVectors="false",
            ),
            "INSERT INTO {t} VALUES (1, array(1, 2), map('a', 1)), (2, NULL, NULL)",
        ),
    ),
    "appended-only": Recipe(
        "a table that only grows, described, with properties of its own",
        (
            PLAIN
            + "COMMENT 'only grows' "
            + "TBLPROPERTIES ('delta.appendOnly' = 'true', 'owner.name' = 'ü \"x\"')",
            rows(0, 2),
            "ALTER TABLE {t} UNSET TBLPROPERTIES ('owner.name')",
            rows(2, 4),
        ),
    ),
}
