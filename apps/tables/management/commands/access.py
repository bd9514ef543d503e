"""`deltaweb access ...`: who can see a table and why, and requests of access."""

from django.utils import timezone

from apps.accounts.errors import UserNotFoundError
from apps.accounts.models import User
from apps.pages.changes.command import ChangesCommand
from apps.pages.command import Output, argument, subcommand
from apps.tables.access.answers import answer_for
from apps.tables.access.people import rows_of
from apps.tables.access.place import Place, place_named
from apps.tables.access.requested import request_resources
from apps.tables.models import AccessRequest
from deltaweb.environment.command_lines import COMMANDS


class Command(ChangesCommand):
    """The commands that read access; the others are changes."""

    noun = "access"
    names_of = {
        "user-not-found": lambda: User.objects.values_list("username", flat=True)
    }
    help = COMMANDS["access"]

    @subcommand(
        "show",
        "show who can see a table or a namespace such as sales.*, and why",
        argument("name"),
        argument("--person", metavar="NAME", help="one person or group, with reasons"),
    )
    def show(self, name: str, person: str | None = None) -> Output:
        place, now = Place(place_named(name)), timezone.now()
        if person is not None:
            answer = answer_for(person, place, now)
            if answer is None:
                raise UserNotFoundError(name=person)
            can = "can" if answer.can_view else "cannot"
            lines = [f"{answer.name} {can} view {answer.on}."]
            lines += [
                f"  {one.text}" + (f" ({one.more})" if one.more else "")
                for one in answer.reasons
            ]
            return Output(lines=lines, data=answer)
        rows = rows_of(place, now)
        lines = [f"{'WHO':<24} {'VIEW EDIT SHARE OWN':<20} {'UNTIL':<11} SOURCE"]
        for row in rows:
            marks = "".join(
                f"{'yes' if has else '-':<{len(right) + 1}}"
                for right, has in row.rights
            )
            until = f"{row.until:%Y-%m-%d}" if row.until else "no end"
            source = f"{row.source} {row.on}".strip()
            lines.append(f"{row.holder:<24} {marks:<20} {until:<11} {source}")
        return Output(lines=lines, data=rows)

    @subcommand(
        "list",
        "list the open requests of access",
        argument("--all", action="store_true", help="those that were decided, too"),
    )
    def list_requests(self, *, all: bool = False) -> Output:  # noqa: A002 (the option)
        now = timezone.now()
        found = AccessRequest.objects.all() if all else AccessRequest.objects.open(now)
        requests = list(request_resources(found.order_by("id"), now=now))
        lines = [
            f"{one.id:>6} {one.state:<10} {one.holder} {one.right} {one.on} "
            f"{one.wanted}: {one.purpose}"
            for one in requests
        ]
        text = "" if requests else "No request is open."
        return Output(text=text, lines=lines, data=requests)
