"""`deltaweb table restore`: make a version of before the newest one."""

from django.core.management.base import CommandError, CommandParser

from deltaweb.delta.writing.operations.restore import RestorePlan, carry_out_restore
from deltaweb.index.history.sentences.commit_facts import counted
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import add_version, locate
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.storage.opening import open_location


class Verb(WritingVerb):
    """Make a version of before the newest one."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        add_version(parser)

    def run(  # the arguments of the line
        self,
        *,
        table: str,
        at_version: int | None,
        timestamp: str | None,
        time_zone: str | None,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Say what comes back and what goes; commit it after asking."""
        if at_version is None and timestamp is None:
            message = "Give the version that is to come back: --version or --timestamp."
            raise CommandError(message)
        name, location = locate(table)
        opened = open_location(location, time_zone=time_zone)
        plan = opened.plan_restore(at_version, timestamp)
        said = (
            f"{counted(plan.added.num_rows, 'file')} ({plan.added_bytes:,} bytes) "
            f"would come back, {counted(plan.removed.num_rows, 'file')} "
            f"({plan.removed_bytes:,} bytes) would go"
        )
        if dry_run:
            return Output(_plan_data(name, location, plan), f"{said}.", plan.missing)
        plan.check()
        self.ask(f"Restore version {plan.version} of {location}? {said}.")
        result = carry_out_restore(opened.store, plan)
        return committed(
            "table.restore", name, location, result, restored_version=plan.version
        )


def _plan_data(name: str | None, location: str, plan: RestorePlan) -> dict[str, object]:
    return {
        "name": name,
        "location": location,
        "version": plan.version,
        "base_version": plan.base_version,
        "num_added_files": plan.added.num_rows,
        "num_removed_files": plan.removed.num_rows,
        "added_bytes": plan.added_bytes,
        "removed_bytes": plan.removed_bytes,
        "changes_metadata": plan.metadata is not None,
        "missing": list(plan.missing),
    }
