"""`deltaweb table schedule`: how often new commits of a table are looked for."""

from django.core.management.base import CommandParser

from deltaweb.web.pages.actions import command_stamp
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.catalogue.registration import find_table, schedule_table
from deltaweb.web.tables.models.schedules import (
    SCHEDULES,
    schedule_json,
    schedule_words,
)


class Verb(WritingVerb):
    """Show or set how often it is refreshed."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument(
            "every",
            nargs="?",
            choices=list(SCHEDULES),
            help="an interval, `default` as the installation is set, or `never`: "
            "only when asked",
        )

    def run(self, *, name: str, every: str | None, dry_run: bool) -> Output:
        """Set the schedule where one is given, then say what it is."""
        table = find_table(name)
        interval_s = table.refresh_interval_s if every is None else SCHEDULES[every]
        if every is not None and not dry_run:
            schedule_table(table, schedule=every, stamp=command_stamp())
        data = {"name": table.full_name} | schedule_json(interval_s)
        would = "would be" if dry_run and every is not None else "is"
        text = f"{table.full_name} {would} refreshed {schedule_words(interval_s)}."
        return Output(data, text)
