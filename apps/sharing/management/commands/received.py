"""`deltaweb received ...`: what others share with us."""

from pathlib import Path

from django.utils import timezone

from deltaweb.storage.received.errors import ProfileInvalidError
from deltaweb.storage.received.profile import MAX_PROFILE_BYTES
from deltaweb.web.pages.actions import command_stamp
from deltaweb.web.pages.command import AddSubcommand, Output, SubcommandsCommand
from deltaweb.web.pages.page_json import json_with
from deltaweb.web.sharing.shares.received.listing import (
    ProviderRow,
    provider_row,
    provider_rows,
)
from deltaweb.web.sharing.shares.received.services import (
    add_provider,
    find_provider,
    lake_of,
    providers,
    remove_provider,
)
from deltaweb.web.tables.catalogue.lakes.scanning import scan_lake
from deltaweb.web.tables.management.text_output import aligned, time_text


class Command(SubcommandsCommand):
    """A token goes in and never comes out: lists have its end alone."""

    names_of = {"provider-not-found": lambda: [one.name for one in providers()]}
    help = "Received shares: add, list, refresh, remove."

    def add_subcommands(self, add: AddSubcommand) -> None:
        """Declare the subcommands."""
        parser = add("add", self.add, help="add the profile of a provider")
        parser.add_argument("name", help="what you call it; its tables are NAME.…")
        parser.add_argument("profile", metavar="profile.share")
        parser.add_argument(
            "--replace", action="store_true", help="give a known provider this profile"
        )
        add("list", self.list_received, help="list the providers and their tables")
        parser = add("refresh", self.refresh, help="ask a provider what it shares")
        parser.add_argument("name")
        parser = add("remove", self.remove, help="forget a provider and its tables")
        parser.add_argument("name")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def add(self, *, name: str, profile: str, replace: bool, **_: object) -> Output:
        """Try a profile, keep it, and register its tables."""
        stamp = command_stamp()
        provider = add_provider(
            name=name,
            profile=_read(Path(profile).expanduser()),
            replace=replace,
            stamp=stamp,
        )
        scan_lake(lake_of(provider), is_asked=True, stamp=stamp)
        row = provider_row(provider, now=timezone.now())
        count = row.resource.num_tables
        tables = "table is" if count == 1 else "tables are"
        return Output(json_with(row), f"{name} answers: {count} {tables} registered.")

    def list_received(self, **_: object) -> Output:
        """List the providers, and what each shares."""
        rows = list(provider_rows(now=timezone.now()))
        if not rows:
            return Output([], "Nothing is received: received add NAME profile.share")
        lines = aligned(
            ("PROVIDER", "TABLE", "VERSION", "REGISTERED AS", ""),
            [
                (
                    row.resource.name,
                    table.name,
                    "" if table.version is None else str(table.version),
                    table.table,
                    "" if table.withdrawn_at is None else "withdrawn",
                )
                for row in rows
                for table in row.tables
            ],
        )
        heads = [_head(row) for row in rows]
        return Output([json_with(row) for row in rows], lines=[*heads, "", *lines])

    def refresh(self, *, name: str, **_: object) -> Output:
        """Ask a provider again what it shares."""
        provider = find_provider(name)
        report = scan_lake(lake_of(provider), is_asked=True, stamp=command_stamp())
        text = (
            f"{name} answers: {report.num_found} tables, {len(report.registered)} new,"
            f" {len(report.vanished)} withdrawn."
        )
        row = provider_row(provider, now=timezone.now())
        return Output(json_with(row), text)

    def remove(self, *, name: str, yes: bool, **_: object) -> Output:
        """Forget a provider after asking."""
        provider = find_provider(name)
        count = lake_of(provider).tables.count()
        self.confirm(f"Forget {name} and its {count} tables?", yes=yes)
        gone = remove_provider(provider, stamp=command_stamp())
        data = {"name": name, "removed": True, "tables": gone}
        return Output(data, f"{name} is forgotten, with {len(gone)} tables.")


def _head(row: ProviderRow) -> str:
    one = row.resource
    ends = f", until {time_text(one.token_expires_at)}" if one.token_expires_at else ""
    return f"{one.name}: {one.endpoint}, token …{one.token_end}{ends}, {one.state}"


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_PROFILE_BYTES + 1)
    except OSError as error:
        reason = f"{path} cannot be read ({error.strerror})"
        raise ProfileInvalidError(reason=reason) from None
