"""`deltaweb table optimize`: pack small files, or cluster rows by columns."""

from django.core.management.base import CommandError, CommandParser

from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.index.history.sentences.commit_facts import counted
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import (
    SQL_OF_UTC,
    add_time_zone,
    locate,
    whole_number,
)
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.storage.opening import open_location
from deltaweb.writer.files.respelling import (
    RespellPlan,
    carry_out_respell,
    plan_respell,
)
from deltaweb.writer.optimize import OptimizePlan, carry_out_optimize, plan_optimize


class Verb(WritingVerb):
    """Pack small files, or cluster rows by columns; the rows stay the same."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("--where", metavar="SQL", help="which partitions")
        add_time_zone(parser, of=SQL_OF_UTC)
        parser.add_argument("--cluster-by", default="", metavar="a,b")
        parser.add_argument("--target-size", type=whole_number, metavar="BYTES")
        parser.add_argument(
            "--respell",
            action="store_true",
            help="in place of that, spell each partition value in one way, and times "
            "without a zone in UTC: only the log says them, no file is written",
        )

    def run(  # noqa: PLR0913  # the arguments of the line
        self,
        *,
        table: str,
        where: str | None,
        cluster_by: str,
        target_size: int | None,
        respell: bool,
        time_zone: str | None,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Find the small files; write them anew, unless that is only to be said."""
        columns = [text.strip() for text in cluster_by.split(",") if text.strip()]
        name, location = locate(table)
        store = open_location(location).store
        zone = time_zone or UTC_ZONE
        if respell:
            if columns or target_size is not None:
                message = "--respell packs nothing: leave the other options out."
                raise CommandError(message)
            found = plan_respell(store, where, time_zone=zone)
            if dry_run:
                return _respelled(name, location, found)
            result = carry_out_respell(store, found)
            return committed("table.optimize", name, location, result, where=where)
        plan = plan_optimize(
            store,
            where,
            target_bytes=target_size,
            cluster_by=columns,
            time_zone=zone,
        )
        if dry_run:
            return _planned(name, location, plan)
        result = carry_out_optimize(store, plan)
        return committed(
            "table.optimize", name, location, result, where=where, cluster_by=columns
        )


def _respelled(name: str | None, location: str, plan: RespellPlan) -> Output:
    data = {
        "name": name,
        "location": location,
        "version": plan.snapshot.version,
        "num_files": plan.files.num_rows,
        "columns": [one.describe() for one in plan.columns],
    }
    if not plan.files.num_rows:
        return Output(data, "Nothing to do: partition values are spelled in one way.")
    said = f"The values of {counted(plan.files.num_rows, 'file')} would be respelled."
    return Output(data, said, (f"  {one.sentence}." for one in plan.columns))


def _planned(name: str | None, location: str, plan: OptimizePlan) -> Output:
    partitions = plan.partitions()
    num_files = sum(one.num_files for one in partitions)
    num_after = sum(one.num_after for one in partitions)
    num_bytes = sum(one.num_bytes for one in partitions)
    data = {
        "name": name,
        "location": location,
        "version": plan.snapshot.version,
        "num_files": num_files,
        "num_bytes": num_bytes,
        "num_after": num_after,
        "target_bytes": plan.target_bytes,
        "partitions": [
            {**one._asdict(), "values": dict(one.values)} for one in partitions
        ],
    }
    if not partitions:
        return Output(data, "Nothing to do: no small files are in one partition.")
    said = (
        f"{counted(num_files, 'file')} ({num_bytes:,} bytes) in "
        f"{counted(len(partitions), 'partition')} would become about {num_after:,}."
    )
    return Output(data, said)
