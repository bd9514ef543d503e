"""`deltaweb share ...`: what is shared."""

from django.utils import timezone

from apps.pages.actions import command_stamp
from apps.pages.changes.command import ChangesCommand
from apps.pages.command import (
    YES,
    Argument,
    Output,
    argument,
    flag,
    subcommand,
)
from apps.pages.page_json import json_with
from apps.pages.request.changes import UNCHANGED, Unchanged, value_of
from apps.sharing.access.earlier_urls import earlier_urls_text
from apps.sharing.access.grants.preparing import prepare_share
from apps.sharing.access.withdrawals import with_parts
from apps.sharing.activity.usage import calls
from apps.sharing.activity.use_resource import use_resource
from apps.sharing.management import sharing_output
from apps.sharing.models import Share
from apps.sharing.names import (
    find_recipient,
    find_share,
    find_shared_table,
    split_full_name,
)
from apps.sharing.shares import schemas
from apps.sharing.shares import services as shares
from apps.sharing.shares.forms import column_names
from apps.sharing.shares.resources import (
    resource_of_share,
    share_resources,
    shared_table_resource,
)
from apps.tables.catalogue.registration import find_table
from apps.tables.index.engine import Engine
from apps.tables.index.folders import index_folder
from apps.tables.management.terminal import TerminalReports, add_engine
from apps.tables.management.text_output import listed
from apps.tables.models import Table
from apps.tables.storage.opening import open_table, roots_of_server
from deltaweb.delta.errors import DeltaError
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.sharing.compatibility import misreadings
from deltaweb.words import counted

IN_PARQUET = (
    "Clients that accept the delta format are answered in it, if they know what the "
    "table uses; queries in the parquet format are refused for this."
)
IN_ANY_FORMAT = "Recipients see the table, and their queries are refused for this."


def refusals(table: Table) -> list[str]:
    """Say why queries of the newest version are refused, and in the end which ones.

    Nothing is said of a table whose queries are answered in every format.
    """
    try:
        reader = open_table(table, roots=roots_of_server())
        newest = SharedTableReader().open_version(
            reader, index_folder=index_folder(table)
        )
        found = misreadings(
            newest.protocol,
            newest.metadata,
            newest.schema,
            has_deletion_vectors=newest.has_deletion_vectors,
        )
    except DeltaError as error:
        return [error.message, IN_ANY_FORMAT]
    reasons = [misreading.reason for misreading in found]
    return [*reasons, IN_PARQUET] if reasons else []


NAME = argument("name")
SHARE = argument("share")
NAME_OF_SHARE = argument("name", metavar="share")
TABLE = argument("name", metavar="schema.table")
COMMENT = argument("--comment", default="", help="the comment that recipients see")


def _rule(*, where: str, columns: str) -> tuple[Argument, ...]:
    """Return what says which rows and columns are seen, in the words that help."""
    return (
        argument("--where", default=UNCHANGED, metavar="SQL", help=where),
        argument("--columns", default=UNCHANGED, metavar="A,B", help=columns),
    )


def _names(text: str | Unchanged | None) -> list[str] | Unchanged | None:
    return column_names(text) if isinstance(text, str) else text


# What takes a part of a rule away; a part that the line does not name stays.
_NO_RULE = (
    argument(
        *("--no-where", "--no-condition"),
        action="store_const",
        const=None,
        default=UNCHANGED,
        dest="where",
        help="all the rows that the table shares",
    ),
    argument(
        "--no-columns",
        action="store_const",
        const=None,
        default=UNCHANGED,
        dest="columns",
        help="all the columns that the table shares",
    ),
)


class Command(ChangesCommand):
    """What is read of shares, and what is prepared; the rest are changes."""

    noun = "share"

    names_of = {
        "share-not-found": lambda: Share.objects.values_list("name", flat=True),
        "table-not-registered": lambda: [one.full_name for one in Table.objects.all()],
    }
    help = (
        "Shares: create, add-table, add-schema, narrow, prepare, list, show, on, off, "
        "remove-table, remove-schema, delete."
    )

    @subcommand(
        "add-table",
        "put a table into a share",
        SHARE,
        argument("name", metavar="schema.table", help="its name for recipients"),
        argument("--table", required=True, metavar="NAME", help="the registered table"),
        flag("--no-history", "share the newest version only, without time travel"),
        argument(
            "--start-version", type=int, metavar="N", help="share history from it on"
        ),
        *_rule(
            where="share only rows that it is true for; recipient.KEY is a property",
            columns="share only these columns",
        ),
        flag(
            "--directory",
            "let its whole folder be read, too, by credentials of its store",
        ),
        COMMENT,
    )
    def add_table(  # noqa: PLR0913 (the options of the command)
        self,
        *,
        share: str,
        name: str,
        table: str,
        no_history: bool,
        start_version: int | None,
        where: str | Unchanged,
        directory: bool,
        columns: str | Unchanged,
        comment: str,
    ) -> Output:
        """Put a table into a share; say what recipients could not read of it."""
        schema, bare_name = split_full_name(name)
        found = find_share(share)
        registered = find_table(table)
        added = shares.add_table(
            found,
            table=registered,
            schema=schema,
            name=bare_name,
            with_history=not no_history,
            start_version=start_version,
            with_directory=directory,
            condition=value_of(where, "", removed=""),
            columns=value_of(_names(columns), [], removed=[]),
            comment=comment,
            stamp=command_stamp(),
        )
        warnings = self._warn_of(registered)
        shown = shared_table_resource(added)
        text = (
            f"Added {added.full_name} to {found.name}: the table "
            f"{registered.full_name}, {sharing_output.history_text(shown)}."
        )
        return Output(json_with(shown, warnings=warnings), text)

    @subcommand(
        "add-schema",
        "share a namespace whole",
        SHARE,
        argument("schema", help="its name for recipients"),
        argument(
            "--namespace",
            required=True,
            metavar="NS",
            help="the namespace: its tables, and those that come",
        ),
        flag("--no-history", "share newest versions alone"),
    )
    def add_schema(
        self, *, share: str, schema: str, namespace: str, no_history: bool
    ) -> Output:
        found = find_share(share)
        added = schemas.add_schema(
            found,
            schema=schema,
            namespace=namespace,
            with_history=not no_history,
            stamp=command_stamp(),
        )
        resources = schemas.schema_resources(found)
        shown = next(one for one in resources if one.id == added.id)
        for left in shown.unshared:
            self.warn(f"{left.table} is not shared: {left.reason}.")
        text = (
            f"{found.name} has {namespace} as {added.schema}: "
            f"{counted(shown.num_tables, 'table')} by now, and each that comes."
        )
        return Output(shown, text)

    @subcommand("remove-schema", "take a schema out", SHARE, argument("schema"), YES)
    def remove_schema(self, *, share: str, schema: str, yes: bool) -> Output:
        found = schemas.find_schema(find_share(share), schema)
        name = found.share.name
        self.confirm(f"Remove the whole schema {found.schema} from {name}?", yes=yes)
        schemas.remove_schema(found, stamp=command_stamp())
        data = {"share": name, "schema": found.schema, "removed": True}
        return Output(data, f"Removed the whole schema {found.schema} from {name}.")

    @subcommand(
        "prepare",
        "prepare what recipients read in part",
        NAME_OF_SHARE,
        flag(
            "--prove",
            "read all that recipients get, and count the rows outside of the rule",
        ),
        add_engine,
    )
    def prepare(self, *, name: str, engine: Engine | None, prove: bool) -> Output:
        share = find_share(name)
        reports = TerminalReports(self.warn)
        found = prepare_share(
            share, reports=reports, engine=engine, proves=prove, now=timezone.now()
        )
        if not share.recipients.exists():
            return Output([], f"Nobody may read {share.name} yet: nothing to prepare.")
        if not found:
            return Output([], f"All of {share.name} is shared as it is.")
        return Output(
            [json_with(one) for one in found],
            lines=listed(found, sharing_output.PREPARED_COLUMNS),
        )

    @subcommand(
        "narrow",
        "let one recipient see less of a table",
        SHARE,
        TABLE,
        argument("--recipient", required=True, metavar="NAME"),
        *_rule(where="holds beside the table's own", columns="of those it shares"),
        *_NO_RULE,
    )
    def narrow(
        self,
        *,
        share: str,
        name: str,
        recipient: str,
        where: str | Unchanged | None,
        columns: str | Unchanged | None,
    ) -> Output:
        """Let one recipient see less of a table, or say what it sees."""
        found = find_shared_table(find_share(share), name)
        reader = find_recipient(recipient)
        stamp = command_stamp()
        shares.narrow_table(
            found,
            reader,
            condition=where,
            columns=_names(columns),
            stamp=stamp,
        )
        rule = found.rules.filter(recipient=reader).first()
        data = {
            "name": found.full_name,
            "recipient": reader.name,
            "condition": rule.condition if rule else "",
            "columns": rule.columns if rule else [],
            "earlier_urls_end_at": found.earlier_urls_end_at,
        }
        if rule is None:
            text = f"{reader.name} sees of {found.full_name} what others do."
        else:
            text = f"{reader.name} sees less of {found.full_name} than others."
        urls = earlier_urls_text(found.earlier_urls_end_at, now=stamp.at)
        return Output(data, f"{text} {urls}")

    @subcommand("list", "list the shares")
    def list_shares(self) -> Output:
        found = list(share_resources(Share.objects.all()))
        if not found:
            return Output(found, "No shares yet: share create NAME")
        return Output(found, lines=listed(found, sharing_output.SHARE_COLUMNS))

    @subcommand("show", "show a share: its tables and recipients", NAME)
    def show(self, *, name: str) -> Output:
        share = find_share(name)
        whole = schemas.schema_resources(share)
        shown = resource_of_share(share)
        use = use_resource(calls(share=share.name), now=timezone.now())
        shared = share.shared_tables.select_related("table", "share", "from_schema")
        tables = [shared_table_resource(table) for table in with_parts(shared)]
        text = sharing_output.share_text(shown, use)
        lines = [
            *sharing_output.schema_lines(whole),
            *sharing_output.shared_table_lines(tables),
        ]
        data = json_with(shown, schemas=whole, tables=tables, use=use)
        return Output(data, text, lines)

    @subcommand("remove-table", "take a table out", SHARE, TABLE, YES)
    def remove_table(self, *, share: str, name: str, yes: bool) -> Output:
        found = find_shared_table(find_share(share), name)
        data = {"share": found.share.name, "name": found.full_name, "removed": True}
        self.confirm(f"Remove {found.full_name} from {found.share.name}?", yes=yes)
        shares.remove_table(found, stamp=command_stamp())
        text = (
            f"Removed {found.full_name} from {found.share.name}; the table "
            f"{found.table.full_name} stays registered."
        )
        return Output(data, text)

    def _warn_of(self, table: Table) -> list[str]:
        """Say what an administrator should know of a table that is shared."""
        warnings = [f"{table.full_name}: {sentence}" for sentence in refusals(table)]
        if table.restricted:
            warnings.append(
                f"{table.full_name} is hidden from viewers here, and shared outside."
            )
        for sentence in warnings:
            self.warn(sentence)
        return warnings
