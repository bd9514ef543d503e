"""`deltaweb group ...`: groups of users and their members."""

from django.utils import timezone

from apps.accounts.groups.resource import find_group, group_detail, group_resources
from apps.accounts.models import Group, User
from apps.pages.changes.command import ChangesCommand
from apps.pages.command import Output, argument, subcommand
from deltaweb.environment.command_lines import COMMANDS
from deltaweb.words import counted


class Command(ChangesCommand):
    """The commands that read groups; the others are changes."""

    noun = "group"
    names_of = {
        "group-not-found": lambda: Group.objects.values_list("name", flat=True),
        "user-not-found": lambda: User.objects.values_list("username", flat=True),
    }
    help = COMMANDS["group"]

    @subcommand("list", "list the groups")
    def list_groups(self) -> Output:
        groups = list(group_resources(Group.objects.order_by("name")))
        lines = [
            f"{one.name:<24} {one.source:<6} {one.num_members:>7}" for one in groups
        ]
        if groups:
            lines.insert(0, f"{'NAME':<24} {'SOURCE':<6} MEMBERS")
        text = "" if groups else "No groups yet. Add one with: deltaweb group add NAME"
        return Output(text=text, lines=lines, data=groups)

    @subcommand("show", "show a group, its members and permissions", argument("name"))
    def show_group(self, name: str) -> Output:
        one = group_detail(find_group(name), now=timezone.now())
        lines = [f"{one.name}: {counted(one.num_members, 'member')}"]
        lines += [f"  {each.user:<24} {each.source}" for each in one.members]
        lines += [
            f"  can {each.right} {each.on}"
            + (f" until {each.until:%Y-%m-%d}" if each.until else "")
            for each in one.grants
        ]
        return Output(lines=lines, data=one)
