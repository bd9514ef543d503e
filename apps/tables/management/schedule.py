"""`deltaweb table schedule`: how often new commits of a table are looked for."""

from django.utils import timezone

from apps.pages.actions import COMMAND_LINE
from apps.pages.command import AddSubcommand, Output, SubcommandsCommand
from apps.tables import services
from apps.tables.schedules import SCHEDULES, schedule_json, schedule_words


class ScheduleSubcommand(SubcommandsCommand):
    """The subcommand that shows or sets the schedule of a registered table."""

    def add_schedule(self, add: AddSubcommand) -> None:
        """Add the subcommand."""
        parser = add(
            "schedule", self.schedule, help="show or set how often it is refreshed"
        )
        parser.add_argument("name")
        parser.add_argument(
            "every",
            nargs="?",
            choices=list(SCHEDULES),
            help="an interval, `default` as the installation is set, or `never`: "
            "only when asked",
        )

    def schedule(self, *, name: str, every: str | None, **_: object) -> Output:
        """Set the schedule where one is given, then say what it is."""
        table = services.find_table(name)
        if every is not None:
            services.schedule_table(
                table, schedule=every, actor=COMMAND_LINE, now=timezone.now()
            )
        interval_s = table.refresh_interval_s
        data = {"name": table.full_name} | schedule_json(interval_s)
        text = f"{table.full_name} is refreshed {schedule_words(interval_s)}."
        return Output(data, text)
