"""The rules about a table, one module each. A new rule is a module, named here."""

from typing import Final

from deltaweb.health.rule import Rule
from deltaweb.health.rules import (
    fine_partitions,
    log_gap,
    skewed_partitions,
    small_files,
    wrong_checksum,
)

RULES: Final[tuple[Rule, ...]] = (
    log_gap.RULE,
    wrong_checksum.RULE,
    small_files.RULE,
    fine_partitions.RULE,
    skewed_partitions.RULE,
)
"""All rules, in the order in which pages list them."""
