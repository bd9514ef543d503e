"""`deltaweb received ...`: what others share with us."""

from pathlib import Path

from django.utils import timezone

from apps.pages.actions import command_stamp
from apps.pages.command import (
    YES,
    Output,
    SubcommandsCommand,
    argument,
    flag,
    subcommand,
)
from apps.pages.page_json import json_with
from apps.sharing.shares.received.listing import (
    ProviderRow,
    provider_row,
    provider_rows,
)
from apps.sharing.shares.received.services import (
    add_provider,
    find_provider,
    lake_of,
    providers,
    remove_provider,
)
from apps.tables.catalogue.lakes.scanning import scan_lake
from apps.tables.management.text_output import aligned, time_text
from deltaweb.storage.received.errors import ProfileInvalidError
from deltaweb.storage.received.profile import MAX_PROFILE_BYTES


class Command(SubcommandsCommand):
    """A token goes in and never comes out: lists have its end alone."""

    names_of = {"provider-not-found": lambda: [one.name for one in providers()]}
    help = "Received shares: add, list, refresh, remove."

    @subcommand(
        "add",
        "add the profile of a provider",
        argument("name", help="what you call it; its tables are NAME.…"),
        argument("profile", metavar="profile.share"),
        flag("--replace", "give a known provider this profile"),
    )
    def add(self, *, name: str, profile: str, replace: bool) -> Output:
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

    @subcommand("list", "list the providers and their tables")
    def list_received(self) -> Output:
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

    @subcommand("refresh", "ask a provider what it shares", argument("name"))
    def refresh(self, *, name: str) -> Output:
        provider = find_provider(name)
        report = scan_lake(lake_of(provider), is_asked=True, stamp=command_stamp())
        text = (
            f"{name} answers: {report.num_found} tables, {len(report.registered)} new,"
            f" {len(report.vanished)} withdrawn."
        )
        row = provider_row(provider, now=timezone.now())
        return Output(json_with(row), text)

    @subcommand("remove", "forget a provider and its tables", argument("name"), YES)
    def remove(self, *, name: str, yes: bool) -> Output:
        provider = find_provider(name)
        count = lake_of(provider).tables.count()
        self.confirm(f"Forget {name} and its {count} tables?", yes=yes)
        gone = remove_provider(provider, stamp=command_stamp())
        data = {"name": name, "removed": True, "tables": gone}
        return Output(data, f"{name} is forgotten, with {len(gone)} tables.")


def _head(row: ProviderRow) -> str:
    one = row.resource
    ends = f", until {time_text(one.token_expires_at)}" if one.token_expires_at else ""
    key = f"client {one.client_id}" if one.client_id else f"token …{one.token_end}"
    return f"{one.name}: {one.endpoint}, {key}{ends}, {one.state}"


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_PROFILE_BYTES + 1)
    except OSError as error:
        reason = f"{path} cannot be read ({error.strerror})"
        raise ProfileInvalidError(reason=reason) from None
