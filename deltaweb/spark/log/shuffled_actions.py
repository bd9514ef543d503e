"""Reconciling file actions that are shuffled by key: the last one of each key wins.

Source: delta_protocol.md, "Action Reconciliation".
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)

from deltaweb.delta.log.file_actions import TOMBSTONES_SCHEMA
from deltaweb.spark.log.reader import ACTIONS_SCHEMA, KEY, LIVE_FILES_SCHEMA


def reconcile_tail(actions: DataFrame) -> DataFrame:
    """Reconcile the file actions of packs: the last one of each key wins.

    Args:
        actions: By `ACTIONS_SCHEMA`, each pack reconciled already.
    """
    rest = [name for name in ACTIONS_SCHEMA.names if name not in {KEY.name, "pack"}]
    last = F.max_by(F.struct(*rest), "pack").alias("last")
    return actions.groupBy(KEY.name).agg(last).select(KEY.name, "last.*")


def apply_layer(files: DataFrame, actions: DataFrame) -> DataFrame:
    """Return the live files after some commits.

    Args:
        files: Those before, by `LIVE_FILES_SCHEMA` with their keys.
        actions: File actions of the commits, by `ACTIONS_SCHEMA`.
    """
    return _applied(files, actions, LIVE_FILES_SCHEMA.names, is_add=True)


def apply_tombstones(tombstones: DataFrame, actions: DataFrame) -> DataFrame:
    """Return the tombstones after some commits; as `apply_layer` does the files."""
    return _applied(tombstones, actions, TOMBSTONES_SCHEMA.names, is_add=False)


def _applied(
    before: DataFrame, actions: DataFrame, names: list[str], *, is_add: bool
) -> DataFrame:
    kept = before.join(actions.select(KEY.name), KEY.name, "left_anti")
    newest = reconcile_tail(actions).where(F.col("is_add") == F.lit(is_add))
    return kept.select(*names).unionByName(newest.select(*names))
