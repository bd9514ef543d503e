"""The rules about a table, one module each. A new rule is a module, named here."""

from typing import Final

from deltaweb.health.rule import Rule
from deltaweb.health.rules import (
    dangling_hint,
    fine_partitions,
    heavy_statistics,
    identity_end,
    late_writes,
    log_gap,
    log_not_cleaned,
    masked_rows,
    missing_statistics,
    no_checkpoint,
    orphans,
    removed_files,
    skewed_partitions,
    small_files,
    stopped_readers,
    versions_ending,
    wrong_checksum,
)

RULES: Final[tuple[Rule, ...]] = (
    log_gap.RULE,
    wrong_checksum.RULE,
    stopped_readers.RULE,
    no_checkpoint.RULE,
    identity_end.RULE,
    small_files.RULE,
    fine_partitions.RULE,
    skewed_partitions.RULE,
    missing_statistics.RULE,
    masked_rows.RULE,
    removed_files.RULE,
    orphans.RULE,
    log_not_cleaned.RULE,
    heavy_statistics.RULE,
    versions_ending.RULE,
    late_writes.RULE,
    dangling_hint.RULE,
)
"""All rules, in the order in which pages list them."""
