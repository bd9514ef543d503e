"""The terms on which a table is in a share: its rows, columns, history and folder."""

from dataclasses import MISSING, dataclass
from typing import Any, Final

from apps.pages.changes.parameters import Line, parameter
from apps.pages.request.changes import UNCHANGED, Unchanged, sent_fields
from apps.sharing.shares.forms import (
    MAX_COMMENT_LENGTH,
    MAX_FILTER_LENGTH,
    MAX_TEXT_LENGTH,
    column_names,
)

MAX_TABLE_NAME_LENGTH: Final = 401


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRule:
    """The rows and columns of a table that are offered; a value left out stays.

    Attributes:
        condition: Offer only rows that this SQL is true for; null for all.
        columns: Offer only these columns; null for all.
    """

    condition: str | Unchanged | None = parameter(
        UNCHANGED,
        "--where",
        removed_by="--no-where --no-condition",
        line=Line(
            label="Only rows where",
            most=MAX_FILTER_LENGTH,
            codes=("condition-invalid",),
        ),
        metavar="SQL",
        help="offer only rows that it is true for; recipient.KEY is a property",
    )
    columns: list[str] | Unchanged | None = parameter(
        UNCHANGED,
        "--columns",
        removed_by="--no-columns",
        reads=column_names,
        line=Line(
            label="Only columns",
            most=MAX_FILTER_LENGTH,
            splits=column_names,
            codes=("columns-invalid",),
        ),
        metavar="A,B",
        help="offer only these columns",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(NewRule):
    """The part of a table that is offered, with its history.

    Attributes:
        with_history: Whether older versions can be read.
        start_version: The first version that can be read; null for all.
    """

    with_history: bool | Unchanged = parameter(
        UNCHANGED,
        "--no-history",
        action="store_const",
        const=False,
        line=Line(label="With history"),
        help="share the newest version only, without time travel",
    )
    start_version: int | Unchanged | None = parameter(
        UNCHANGED,
        "--start-version",
        type=int,
        line=Line(
            label="History begins at version",
            wrong="Write a version: a whole number.",
            codes=("start-version-invalid",),
        ),
        metavar="N",
        help="share history from it on",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms(Part):
    """All that is said of a table of a share.

    Attributes:
        comment: The comment that recipients see; null removes it.
        with_directory: Whether its whole folder can be read, too, by temporary
            credentials of its store.
        partition_filter: The condition, by its old name.
    """

    with_directory: bool | Unchanged = parameter(
        UNCHANGED,
        "--directory",
        action="store_const",
        const=True,
        line=Line(label="Also as a folder", codes=("directory-refused",)),
        help="let its whole folder be read, too, by credentials of its store",
    )
    comment: str | Unchanged | None = parameter(
        UNCHANGED,
        "--comment",
        line=Line(label="Comment", most=MAX_COMMENT_LENGTH),
        help="the comment that recipients see",
    )
    partition_filter: str | Unchanged | None = parameter(
        UNCHANGED, None, line=Line(label="Only rows where", most=MAX_FILTER_LENGTH)
    )

    @property
    def terms(self) -> dict[str, Any]:
        """What `update_table` takes of it."""
        condition = self.condition
        if not isinstance(self.partition_filter, Unchanged):
            sent = None if isinstance(condition, Unchanged) else condition
            condition = sent or self.partition_filter
        return sent_fields(
            condition=condition,
            columns=self.columns,
            with_history=self.with_history,
            start_version=self.start_version,
            with_directory=self.with_directory,
            comment=self.comment,
        )

    @property
    def bounds(self) -> dict[str, Any]:
        """What `add_table` takes of it."""
        return {key: one for key, one in self.terms.items() if one is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOffer(Terms):
    """The part of a registered table that a share offers.

    A field that is left out stays as it is, if the table is in the share already. A
    table that is new in the share is offered with its history, all rows and all columns
    unless a field says otherwise.

    Attributes:
        table: The registered table, as `namespace.name`; of a table that is new in the
            share and is left out, the one of the same name.
    """

    table: str | Unchanged = UNCHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTable(Terms):
    """A registered table that is put into a share by a command.

    Attributes:
        table: The registered table.
    """

    table: str = parameter(
        MISSING,
        "--table",
        required=True,
        metavar="NAME",
        help="the registered table",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedTable(Terms):
    """A registered table that is put into a share by the page of the share.

    Attributes:
        table: The registered table.
        schema: The schema in the share; "" for the namespace of the table.
        name: The name in the share; "" for that of the table.
    """

    table: str = parameter(
        MISSING,
        "--table",
        line=Line(
            label="Table",
            most=MAX_TABLE_NAME_LENGTH,
            is_needed=True,
            wrong="Choose a table to share.",
            codes=("table-not-registered",),
        ),
    )
    schema: str = parameter(
        "",
        None,
        line=Line(label="Schema", most=MAX_TEXT_LENGTH, codes=("name-invalid schema",)),
    )
    name: str = parameter(
        "",
        None,
        line=Line(
            label="Name",
            most=MAX_TEXT_LENGTH,
            codes=("name-invalid table", "name-taken"),
        ),
    )

    @property
    def stated_bounds(self) -> dict[str, Any]:
        """The bounds of a form: a box that was not sent is not checked."""
        return {"with_history": False, **self.bounds}
