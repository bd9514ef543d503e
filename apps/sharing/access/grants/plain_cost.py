"""The cost of serving tables as plain files: the files that need a copy.

It is counted from the indexes of tables alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings

from apps.pages.request.server_paths import place_for_reader
from apps.sharing.models import Recipient, Share
from apps.tables.index.folders import index_folder
from apps.tables.models import Table
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.scan.pruning import prune
from deltaweb.delta.values.whole import exact_sum
from deltaweb.index.files.source import load_source
from deltaweb.index.folder.parts import IndexMissingError
from deltaweb.index.query.indexed_block import map_blocks
from deltaweb.index.query.indexed_part import IndexedPart
from deltaweb.sharing.plain import plain_form
from deltaweb.words import bytes_text, counted

MAX_TABLES: Final = 200  # whose files are counted while a page is waited for
RENEWED: Final = "Each commit that changes such files renews their copies."


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainCost:
    """The cost of plain files.

    Attributes:
        num_files: The number of files of the newest versions that are indexed.
        num_copies: The number of these that need a copy.
        copied_bytes: The size of these files.
        num_unknown: The number of tables whose index cannot be read.
        is_most: Whether fewer copies may be enough: only the footers of some files say
            whether their types are plain.
    """

    num_files: int = 0
    num_copies: int = 0
    copied_bytes: int = 0
    num_unknown: int = 0
    is_most: bool = False

    @property
    def text(self) -> str:
        """The cost in sentences."""
        known = self.num_files or not self.num_unknown
        said = [self._copies] if known else []
        if self.num_unknown:
            tables = counted(self.num_unknown, "table")
            said.append(f"The files of {tables} are not known yet.")
        return " ".join(said)

    @property
    def _copies(self) -> str:
        if not self.num_copies:
            return "No file needs a copy."
        of = f"{self.num_copies:,} of {counted(self.num_files, 'file')}"
        of = f"At most {of}" if self.is_most else of
        need = "needs" if self.num_copies == 1 else "need"
        place = place_for_reader(settings.PREPARED_FILES)
        text = (
            f"{of} {need} a copy: {bytes_text(self.copied_bytes)}. {RENEWED} Copies "
            f"are stored in {place} (DELTAWEB_PREPARED_FILES)."
        )
        if self.copied_bytes <= settings.PREPARED_BYTES:
            return text
        most = bytes_text(settings.PREPARED_BYTES)
        return f"{text} A share can have copies of {most} (DELTAWEB_PREPARED_BYTES)."


def cost_of(thing: Share | Recipient) -> PlainCost:
    """Return the cost of plain files for all tables of a share or a recipient."""
    shares = [thing] if isinstance(thing, Share) else thing.shares.all()
    tables = Table.objects.filter(shared_tables__share__in=shares).defer("summary")
    return plain_cost(tables.order_by("namespace", "name").distinct()[:MAX_TABLES])


def plain_cost(tables: Iterable[Table]) -> PlainCost:
    """Return the cost of serving tables as plain files."""
    num_files = num_copies = copied_bytes = num_unknown = 0
    is_most = False
    for table in tables:
        found = _cost_of(table)
        if found is None:
            num_unknown += 1
            continue
        num_files += found[0]
        num_copies += found[1]
        copied_bytes += found[2]
        is_most |= found[3]
    return PlainCost(
        num_files=num_files,
        num_copies=num_copies,
        copied_bytes=copied_bytes,
        num_unknown=num_unknown,
        is_most=is_most,
    )


def _cost_of(table: Table) -> tuple[int, int, int, bool] | None:
    """Return the files of a table, the copies, their bytes, and whether it is most."""
    folder = index_folder(table)
    if folder is None:
        return None
    try:
        source = load_source(folder)
        blocks = map_blocks(folder, source)
        schema = table_schema(source.protocol, source.metadata)
        form = plain_form(source.protocol, source.metadata, schema)
    except (IndexMissingError, DeltaError, ValueError):
        return None
    num_files = num_copies = size_bytes = 0
    is_most = False
    for block in blocks:
        files = block.files
        num_files += files.num_rows
        sizes = files["size"]
        if not form.copies_all:
            ranges = partial(IndexedPart(block).ranges, schema)
            checked = prune(form.checked_where, files.num_rows, [ranges])
            is_most |= bool(checked.any())
            is_copied = pc.or_(pc.is_valid(files["dv_id"]), pa.array(checked))
            sizes = sizes.filter(is_copied)
        num_copies += len(sizes)
        size_bytes += exact_sum(sizes)
    return num_files, num_copies, size_bytes, is_most
