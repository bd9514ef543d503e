"""What a rule would leave of a table's newest version: judged, nothing is written."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from apps.sharing.access.grants.proof import signed_rows_outside
from apps.sharing.access.grants.rules import TableRule
from apps.tables.index.folders import index_folder
from apps.tables.models import Table
from apps.tables.storage.opening import open_table, roots_of_server
from deltaweb.delta.protocol.schema import type_text
from deltaweb.delta.scan.skipping import Mask
from deltaweb.delta.values.whole import exact_sum
from deltaweb.index.query.classification import ClassifiedPart, FileRule, classify
from deltaweb.index.query.file_part import FilePart
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion

PROOF_BYTES: Final = 16 << 20
"""Of files that are read while somebody waits for a page."""


@dataclass(frozen=True, slots=True)
class SomeFiles:
    """How many files, and their bytes."""

    num_files: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedColumn:
    """A column, and what it costs to leave it out.

    Attributes:
        type: Its type, as SQL writes it.
    """

    name: str
    type: str
    is_seen: bool
    is_asked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePreview:
    """What becomes of the files of a version under a rule.

    Attributes:
        missing: Properties that the condition asks for, and the recipient lacks.
        left_out: Those in which no row may be seen.
        inside: Those of which every row may be seen: they are untouched where all
            columns are, and are rewritten as soon as one is left out.
        rows_outside: Rows of untouched files that the rule does not show, by reading
            them; None where they are too large to be read at once.
    """

    version: int
    missing: list[str]
    untouched: SomeFiles
    rewritten: SomeFiles
    left_out: SomeFiles
    inside: SomeFiles
    columns: list[PreviewedColumn]
    rows_outside: int | None

    @property
    def hidden(self) -> list[PreviewedColumn]:
        """The columns that are left out."""
        return [column for column in self.columns if not column.is_seen]

    @property
    def shares(self) -> list[tuple[str, float, float]]:
        """The bytes as parts of a bar: kind, where it begins, how wide it is, in %."""
        kinds = {
            "untouched": self.untouched,
            "rewritten": self.rewritten,
            "left": self.left_out,
        }
        total = sum(one.size_bytes for one in kinds.values()) or 1
        found, begin = [], 0.0
        for kind, files in kinds.items():
            width = 100 * files.size_bytes / total
            found.append((kind, round(begin, 2), round(width, 2)))
            begin += width
        return found

    @property
    def untouched_percent(self) -> float:
        """Share of the bytes that are shared that are untouched."""
        shared = self.untouched.size_bytes + self.rewritten.size_bytes
        return 100 * self.untouched.size_bytes / shared if shared else 0.0


def preview_rule(table: Table, rules: Collection[TableRule]) -> list[RulePreview]:
    """Return what some rules would leave of a table's newest version, rule for rule."""
    opened = open_table(table, roots=roots_of_server())
    version = SharedTableReader().open_version(opened, index_folder=index_folder(table))
    return [_preview(version, rule) for rule in rules]


def _preview(version: SharedVersion, rule: TableRule) -> RulePreview:
    bound = rule.bind(version)
    condition = bound.files.condition
    inside = classify(version, FileRule(condition=condition))
    offered = inside if rule.columns is None else classify(version, bound.files)
    signed = _sum((one.part, one.signed) for one in offered)
    asked = condition.names if condition is not None else frozenset()
    return RulePreview(
        version=version.version,
        missing=rule.missing,
        untouched=signed,
        rewritten=_sum((one.part, one.rewritten) for one in offered),
        left_out=_sum((one.part, one.absent) for one in offered),
        inside=_sum((one.part, one.signed) for one in inside),
        columns=[
            PreviewedColumn(
                name=column.name,
                type=type_text(column.data_type),
                is_seen=column.name in bound.schema.names,
                is_asked=column.name in asked,
            )
            for column in version.schema.fields
        ],
        rows_outside=_rows_outside(version, offered, bound.files, signed.size_bytes),
    )


def _rows_outside(
    version: SharedVersion,
    classified: list[ClassifiedPart],
    rule: FileRule,
    size_bytes: int,
) -> int | None:
    if size_bytes > PROOF_BYTES:
        return None
    return signed_rows_outside(version, classified, rule.condition)


def _sum(parts: Iterable[tuple[FilePart, Mask]]) -> SomeFiles:
    num_files = size_bytes = 0
    for part, mask in parts:
        num_files += int(np.count_nonzero(mask))
        size_bytes += exact_sum(part.sizes.filter(pa.array(mask)))
    return SomeFiles(num_files, size_bytes)
