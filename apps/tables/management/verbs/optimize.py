"""`deltaweb table optimize`: pack small files, or cluster rows by columns."""

from django.core.management.base import CommandParser

from apps.pages.command import Output, WritingVerb
from apps.tables.management.arguments import (
    SQL_OF_UTC,
    add_time_zone,
    locate,
    whole_number,
)
from apps.tables.management.commit_output import committed
from apps.tables.storage.opening import open_location
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.index.history.sentences.commit_facts import counted
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

    def run(  # noqa: PLR0913  # the arguments of the line
        self,
        *,
        table: str,
        where: str | None,
        cluster_by: str,
        target_size: int | None,
        time_zone: str | None,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Find the small files; write them anew, unless that is only to be said."""
        columns = [text.strip() for text in cluster_by.split(",") if text.strip()]
        name, location = locate(table)
        store = open_location(location).store
        plan = plan_optimize(
            store,
            where,
            target_bytes=target_size,
            cluster_by=columns,
            time_zone=time_zone or UTC_ZONE,
        )
        if dry_run:
            return _planned(name, location, plan)
        result = carry_out_optimize(store, plan)
        return committed(
            "table.optimize", name, location, result, where=where, cluster_by=columns
        )


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
