"""Shares, their tables, and who may read them."""

from dataclasses import dataclass
from http import HTTPStatus

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import Scope
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import Started, started
from apps.pages.actions import stamp_of
from apps.pages.request.changes import UNCHANGED, Unchanged, sent_fields
from apps.sharing.access.grants.preparing import request_preparation
from apps.sharing.names import (
    find_recipient,
    find_share,
    find_shared_table,
    name_key,
    split_full_name,
)
from apps.sharing.recipients import services as recipients
from apps.sharing.recipients.listing import (
    RecipientResource,
    recipient_resource,
    recipient_rows,
)
from apps.sharing.shares import services
from apps.sharing.shares.resources import (
    SharedTableResource,
    shared_table_resource,
)
from apps.tables.catalogue.registration import find_table


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOffer:
    """What of a registered table a share offers.

    A field that is left out stays as it is, if the table is in the share already. A
    table that is new in the share is offered with its history, all rows and all columns
    unless a field says otherwise.

    Attributes:
        table: The registered table, as `namespace.name`; of a table that is new in the
            share and is left out, the one of the same name.
        comment: What recipients read of it; null removes it.
        with_history: Whether older versions can be read.
        start_version: The first version that can be read; null for all.
        condition: Offer only rows that this SQL is true for; null for all.
        columns: Offer only these columns; null for all.
        with_directory: Whether its whole folder may be read, too, by temporary
            credentials of its store.
        partition_filter: The condition, by its old name.
    """

    table: str | Unchanged = UNCHANGED
    comment: str | Unchanged | None = UNCHANGED
    with_history: bool | Unchanged = UNCHANGED
    start_version: int | Unchanged | None = UNCHANGED
    condition: str | Unchanged | None = UNCHANGED
    columns: list[str] | Unchanged | None = UNCHANGED
    with_directory: bool | Unchanged = UNCHANGED
    partition_filter: str | Unchanged | None = UNCHANGED

    @property
    def wanted_condition(self) -> str | Unchanged | None:
        """The condition, by either name."""
        if isinstance(self.partition_filter, Unchanged):
            return self.condition
        if isinstance(self.condition, Unchanged):
            return self.partition_filter
        return self.condition or self.partition_filter


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedPreparation:
    """What is done ahead for a share of which recipients see a part.

    Attributes:
        prove: Whether all that recipients get is read, too, and rows outside of the
            rules are counted.
    """

    prove: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """Who may read a share."""

    recipients: list[RecipientResource]


class Preparation(RestView):
    """What is rewritten of a share, of which recipients see a part."""

    @endpoint(
        Role.ADMIN, body=WantedPreparation, answers={202: Started}, scope=Scope.SHARE
    )
    def post(self, name: str, body: WantedPreparation) -> Answer:
        """Rewrite what is shared of files in part, as far as it is not there yet."""
        now = timezone.now()
        return started(
            request_preparation(find_share(name), proves=body.prove, now=now)
        )


class SharedTable(RestView):
    """A table of a share."""

    @endpoint(Role.ADMIN, answers=SharedTableResource)
    def get(self, name: str, table: str) -> object:
        """Tell what of a table a share offers."""
        return shared_table_resource(find_shared_table(find_share(name), table))

    @endpoint(
        Role.ADMIN,
        body=TableOffer,
        answers={200: SharedTableResource, 201: SharedTableResource},
        scope=Scope.SHARE,
    )
    def put(
        self, request: HttpRequest, name: str, table: str, body: TableOffer
    ) -> Answer:
        """Put a registered table into a share, or change what of it is offered.

        One that is there stays the registered table that it is: to offer another one
        under its name, take it out first.
        """
        share, (schema, bare) = find_share(name), split_full_name(table)
        stamp = stamp_of(request)
        offer = sent_fields(
            with_history=body.with_history,
            start_version=body.start_version,
            with_directory=body.with_directory,
            condition=body.wanted_condition,
            columns=body.columns,
            comment=body.comment,
        )
        there = share.shared_tables.select_related("table").filter(
            schema_key=name_key(schema), name_key=name_key(bare)
        )
        shared = there.first()
        if isinstance(body.table, Unchanged):
            registered = shared.table if shared else find_table(f"{schema}.{bare}")
        else:
            registered = find_table(body.table)
        if shared is not None and shared.table == registered:
            changed = services.update_table(shared, **offer, stamp=stamp)
            return Answer(shared_table_resource(changed))
        bounds = {key: value for key, value in offer.items() if value is not None}
        added = services.add_table(
            share, table=registered, schema=schema, name=bare, **bounds, stamp=stamp
        )
        return Answer(shared_table_resource(added), HTTPStatus.CREATED)

    @endpoint(Role.ADMIN, answers={204: None}, scope=Scope.SHARE)
    def delete(self, request: HttpRequest, name: str, table: str) -> None:
        """Take a table out of a share; the table itself stays registered."""
        services.remove_table(
            find_shared_table(find_share(name), table), stamp=stamp_of(request)
        )


class GrantList(RestView):
    """Who may read a share."""

    @endpoint(Role.ADMIN, answers=Readers)
    def get(self, name: str) -> object:
        """List the recipients that may read a share."""
        found = recipient_rows(find_share(name).recipients.all(), now=timezone.now())
        return Readers(recipients=[row.resource for row in found])


class Grant(RestView):
    """That a recipient may read a share."""

    @endpoint(Role.ADMIN, answers=RecipientResource, scope=Scope.SHARE)
    def put(self, request: HttpRequest, name: str, recipient: str) -> object:
        """Let a recipient read a share, from its next request on."""
        share, reader = find_share(name), find_recipient(recipient)
        stamp = stamp_of(request)
        recipients.grant(share, reader, stamp=stamp)
        return recipient_resource(reader, now=stamp.at)

    @endpoint(Role.ADMIN, answers={204: None}, scope=Scope.SHARE)
    def delete(self, request: HttpRequest, name: str, recipient: str) -> None:
        """Take a share from a recipient, from its next request on."""
        share, reader = find_share(name), find_recipient(recipient)
        stamp = stamp_of(request)
        recipients.ungrant(share, reader, stamp=stamp)
