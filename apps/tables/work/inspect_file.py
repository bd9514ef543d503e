"""What is in one Parquet file of a table, without its rows."""

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
from django.conf import settings

from apps.jobs import kinds
from apps.jobs.results import keep_rows
from apps.jobs.running.tracking import TrackedJob
from apps.tables.models.subjects import on_table
from apps.tables.work.file_look import (
    FileLook,
    LookedAtFile,
    opened_file,
    page_of_file,
    title_of,
)
from deltaweb.parquet.inspection.chunks import CHUNK_SCHEMA, ChunkSums, chunk_batches
from deltaweb.parquet.inspection.facts import (
    GROUP_SCHEMA,
    TEXT_SCHEMA,
    FileFacts,
    file_facts,
    group_batches,
    text_batches,
)
from deltaweb.parquet.inspection.nodes import NODE_SCHEMA, node_batches, node_types
from deltaweb.parquet.loading import ParquetFooter, load_footer
from deltaweb.parquet.tail import RangeSource

NODES: Final = ".nodes.arrow"
GROUPS: Final = ".groups.arrow"
TEXTS: Final = ".texts.arrow"


def inspect_file(job: TrackedJob, asked: LookedAtFile) -> FileFacts:
    """Read a file's footer, and keep it as tables that a page shows by parts.

    The rows of the job are `CHUNK_SCHEMA`; beside them are `NODE_SCHEMA`,
    `GROUP_SCHEMA` and `TEXT_SCHEMA`.
    """
    with opened_file(job, asked) as source:
        return keep_inside(job, source)


def keep_inside(job: TrackedJob, source: RangeSource) -> FileFacts:
    """Read the footer of an open file, and keep it as `inspect_file` says."""
    footer = load_footer(source, settings.PARQUET_FOOTER_BYTES)
    size_bytes = source.size()
    job.step("Reading the column chunks")
    sums = ChunkSums()
    types = node_types(footer.root)
    keep_rows(job.id, CHUNK_SCHEMA, _chunks(job, footer, sums))
    keep_rows(job.id, GROUP_SCHEMA, group_batches(footer, sums), suffix=GROUPS)
    keep_rows(job.id, TEXT_SCHEMA, text_batches(footer), suffix=TEXTS)
    keep_rows(job.id, NODE_SCHEMA, node_batches(footer, types, sums), suffix=NODES)
    return file_facts(footer, types, sums, size_bytes=size_bytes)


def _chunks(
    job: TrackedJob, footer: ParquetFooter, sums: ChunkSums
) -> Iterator[pa.RecordBatch]:
    total = len(footer.metadata.row_groups)
    for done, batch in chunk_batches(footer, sums):
        job.progress(done, total=total, unit="row groups")
        yield batch


INSPECT_FILE: Final = kinds.register(
    FileLook(
        name="tables.inspect_file",
        words="Inspect a Parquet file",
        parameters=LookedAtFile,
        result=FileFacts,
        title=lambda table, asked: title_of("Inspect", table, asked),
        first_step="Reading the footer",
        is_apart=True,
        is_cheap=lambda _, __: True,
        run=inspect_file,
        page=on_table(page_of_file),
    )
)
