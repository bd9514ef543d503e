"""A verb of `deltaweb table` that runs an operation, as a job of a page does.

    class DeleteVerb(OperationVerb[DeleteRows]):
        \"\"\"Delete the rows that meet a condition, or all rows.\"\"\"

        operation = DELETE_ROWS

The parameters of the operation are its arguments. `--dry-run` shows the plan; else what
destroys is asked about, with what would happen, and the very plan is carried out. The
record has who did it, and the table's pages follow.
"""

from argparse import ArgumentParser
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, TypeVar

import pyarrow as pa
from django.core.management.base import CommandParser
from django.utils import timezone

from apps.jobs.kind import to_json
from apps.pages.actions import command_stamp
from apps.pages.changes.parameters import add_parameters, given
from apps.pages.command import Output, WritingVerb
from apps.pages.page_json import json_with
from apps.tables.catalogue.names import find_table
from apps.tables.head.shapes import table_json
from apps.tables.index.engine import Engine
from apps.tables.management.arguments import locate, names_of
from apps.tables.management.row_output import json_rows, row_lines
from apps.tables.management.terminal import TerminalReports, add_engine
from apps.tables.models import Table
from apps.tables.operations.operation import AnyOperation
from apps.tables.operations.preview import OperationPreview, RunContext
from apps.tables.storage.locations import parse_location
from apps.tables.storage.opening import open_location, place_of
from apps.tables.work.log_writing import record_log_writing
from deltaweb.errors import DeltawebError

P = TypeVar("P")

IN_TABLES: Final = {"table", "namespace", "name"}
"""What results say of a table that was made, and its own shape says, too."""


class StoppedError(DeltawebError, code="stopped"):
    """Somebody at the terminal has stopped the work."""

    message = "Stopped. Earlier commits stay."
    hint = "'deltaweb table history' has the versions of the table."


class OperationVerb(WritingVerb, Generic[P]):
    """Runs an operation on a table, by its name or its place.

    Attributes:
        takes: Those of its parameters that the line takes; None for all.
    """

    operation: ClassVar[AnyOperation]
    takes: ClassVar[Collection[str] | None] = None
    fixed: ClassVar[Mapping[str, Any]] = {}

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the table, and the parameters."""
        parser.add_argument("table", metavar="name|location")
        self.add_parameters(parser)
        if self.operation.has_engines:
            add_engine(parser)

    def add_parameters(self, parser: ArgumentParser) -> None:
        """Declare the parameters."""
        add_parameters(parser, self.operation.parameters, self.takes)

    def read(self, options: Mapping[str, Any]) -> P:
        """Return the parameters of a line."""
        asked: P = self.operation.parameters(**{**given(options), **self.fixed})
        return asked

    def locate(self, text: str) -> tuple[Table | None, str]:
        """Return the table, if registered, and its location."""
        return locate(text)

    def run(self, **options: Any) -> Output:  # noqa: ANN401  # as argparse read them
        """Show what would happen, or do it: after asking, where it destroys."""
        try:
            return self._run(**options)
        except KeyboardInterrupt:
            raise StoppedError from None

    def _run(
        self,
        *,
        table: str,
        dry_run: bool,
        engine: Engine | None = None,
        **options: Any,  # noqa: ANN401  # as above
    ) -> Output:
        asked = self.read(options)
        registered, location = self.locate(table)
        operation, opened = self.operation, open_location(location)
        question = ""
        if not (dry_run or self.is_agreed):
            question = operation.question(asked, opened)
        if question and operation.looks_long:
            self.check_somebody_there(question)
        context = RunContext(
            job=TerminalReports(self.warn),
            now=timezone.now(),
            place=partial(place_of, location),
            engine=engine,
            is_job=False,
            is_shown=dry_run or bool(question) or operation.deletes_files,
        )
        plan = operation.plan(opened, asked, context)
        preview = operation.preview(plan) if context.is_shown else None
        there = names_of(registered, location)
        if preview and (dry_run or (operation.deletes_files and preview.is_empty)):
            data = {**there, **_document(preview)}
            return Output(data, preview.says, _lines(preview.lines()))
        operation.check(plan)
        if question and preview and not preview.is_empty:
            self.ask(f"{preview.says} {question}")
            if operation.deletes_files:
                # An answer may take long: what could go may be needed by then.
                context = replace(context, now=timezone.now())
                plan = operation.plan(opened, asked, context)
                preview = operation.preview(plan)
        gone = {}
        if preview and operation.deletes_files:  # half of it is to be recorded, too
            gone = {**_document(preview), "deleted": True}
            detail = {**preview.counts, "size_bytes": gone["size_bytes"]}
            self._record(asked, registered, detail)
        result = operation.run(opened, plan, context, registered, asked)
        facts = _facts(result)
        if not gone:
            self._record(asked, registered, {"version": facts["version"]})
        return Output({**there, **facts, **gone}, operation.result_text(result))

    def _record(
        self, asked: P, table: Table | None, detail: Mapping[str, object]
    ) -> None:
        """Put into the record who did what, where the table is registered."""
        if table is not None:
            record_log_writing(
                self.operation.action_name(asked),
                table,
                detail={**to_json(asked), **detail},
                stamp=command_stamp(),
            )


class MakingVerb(OperationVerb[P]):
    """Runs an operation that makes a table, and registers it."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the parameters."""
        self.add_parameters(parser)

    def placed(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a line: the place as it is spelled, and nobody."""
        values = given(options)
        location = parse_location(values["location"], base=Path.cwd())
        return {**values, "location": location, "user_id": None}

    def read(self, options: Mapping[str, Any]) -> P:
        """Return the parameters of a line."""
        asked: P = self.operation.parameters(**self.placed(options))
        return asked

    def _run(
        self,
        *,
        dry_run: bool,
        **options: Any,  # noqa: ANN401  # as argparse read them
    ) -> Output:
        asked, operation = self.read(options), self.operation
        context = RunContext(
            job=TerminalReports(self.warn), now=timezone.now(), is_job=False
        )
        opened = operation.opens(None, asked)
        plan = operation.plan(opened, asked, context)
        if dry_run:
            preview = operation.preview(plan)
            return Output(_document(preview), preview.says, _lines(preview.lines()))
        result = operation.run(opened, plan, context, None, asked)
        facts = _facts(result)
        table = find_table(facts["table"])
        more = {key: facts[key] for key in facts if key not in IN_TABLES}
        return Output({**table_json(table), **more}, operation.result_text(result))


def _facts(result: object) -> dict[str, Any]:
    """Return a result as `--json` answers it; the command itself says it is done."""
    return {key: one for key, one in json_with(result).items() if key != "is_done"}


def _document(preview: OperationPreview[object]) -> dict[str, Any]:
    """Return what would happen as `--json` answers it."""
    return {
        "version": preview.version,
        **preview.counts,
        **json_with(preview.detail()),
        "is_empty": preview.is_empty,
        **{
            key: json_rows(value) if isinstance(value, pa.Table) else value
            for key, value in preview.exact().items()
        },
    }


def _lines(lines: Iterable[str | pa.Table]) -> Iterator[str]:
    for one in lines:
        if isinstance(one, str):
            yield one
        else:
            yield from row_lines(one)
