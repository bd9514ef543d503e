"""`deltaweb storage ...`: how object stores are reached; their options stay secret."""

from pathlib import Path

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
from apps.tables.management import text_output
from apps.tables.models import StorageConnection
from apps.tables.storage import connections as storage_connections
from apps.tables.storage import trying
from apps.tables.storage.connections import storage_resource
from apps.tables.storage.errors import StorageReferenceError
from apps.tables.storage.options import parse_options
from deltaweb.storage.objects.trial import Trial


class Command(SubcommandsCommand):
    """Values go in and never come out: lists have the names of options alone."""

    names_of = {
        "storage-not-found": lambda: StorageConnection.objects.values_list(
            "name", flat=True
        )
    }
    help = "Object stores: add, list, remove and reseal connections."

    @subcommand(
        "add",
        "add an object store with its options",
        argument("name"),
        argument(
            "--prefix",
            required=True,
            metavar="URL",
            help="prefix of locations, such as s3://bucket/",
        ),
        argument(
            "--option",
            action="append",
            default=[],
            dest="options",
            metavar="KEY=VALUE",
            help="an option of the driver (s3fs, gcsfs, adlfs); a dot leads into a"
            " mapping (client_kwargs.endpoint_url=...); env:VARIABLE and file:PATH"
            " are read at each use and keep the value out of the process list",
        ),
        flag("--replace", "replace the options of an existing storage"),
        flag("--write", "test writing as well"),
        flag("--untried", "save it without testing the connection"),
    )
    def add_storage(  # noqa: PLR0913 (the options of the line)
        self,
        *,
        name: str,
        prefix: str,
        options: list[str],
        replace: bool,
        write: bool,
        untried: bool,
    ) -> Output:
        """Try the options of a prefix, then keep them."""
        parsed = parse_options(options, base=Path.cwd())
        tried: Trial | None = None
        try:
            tried = trying.try_connection(
                prefix, parsed, name=name, is_asked=not untried, is_written=write
            )
        except StorageReferenceError as error:
            self.warn(str(error))
        connection = storage_connections.add_connection(
            name=name,
            prefix=prefix,
            options=parsed,
            stamp=command_stamp(),
            replace=replace,
        )
        names = ", ".join(connection.option_names) or "no options"
        text = f"{connection.prefix} is reached by the storage {name} ({names})."
        data = json_with(storage_resource(connection), tried=tried)
        return Output(data, f"{text}{_tried(tried)}")

    @subcommand("list", "list the storages, without values")
    def list_storages(self) -> Output:
        connections = list(StorageConnection.objects.all())
        rows = [
            (one.name, one.prefix, ", ".join(one.option_names)) for one in connections
        ]
        lines = text_output.aligned(("NAME", "PREFIX", "OPTIONS"), rows)
        none = ["No storages yet: storage add NAME --prefix URL --option KEY=VALUE"]
        return Output(
            [storage_resource(one) for one in connections],
            lines=lines if rows else none,
        )

    @subcommand("remove", "remove a storage; its tables stay", argument("name"), YES)
    def remove(self, *, name: str, yes: bool) -> Output:
        connection = storage_connections.find_connection(name)
        count = len(storage_connections.tables_of(connection))
        read = "table is" if count == 1 else "tables are"
        self.confirm(f"Remove {name}? {count} {read} read through it.", yes=yes)
        data = json_with(storage_resource(connection), removed=True)
        storage_connections.remove_connection(connection, stamp=command_stamp())
        return Output(data, f"Removed {name}; no table was removed.")

    @subcommand("reseal", "encrypt all options again with the current secret key")
    def reseal(self) -> Output:
        connections = storage_connections.reseal_connections(stamp=command_stamp())
        sealed = "storage is" if len(connections) == 1 else "storages are"
        text = f"{len(connections)} {sealed} sealed with the current secret key."
        return Output([storage_resource(one) for one in connections], text)


def _tried(trial: Trial | None) -> str:
    if trial is None:
        return " It was not tested."
    done = ["listed", "read" if trial.was_read else "", "written"]
    words = [one for one in done[: 3 if trial.was_written else 2] if one]
    return f" It can be {' and '.join(words)}."
