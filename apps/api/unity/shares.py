"""Shares and who may read them, by the names of Unity Catalog."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from django.db import transaction
from django.http import HttpRequest
from rest_framework.fields import IntegerField

from apps.accounts.models import Scope
from apps.api.endpoint import Role, endpoint
from apps.api.unity.frame import (
    NextPage,
    PlaceForm,
    UnityView,
    milliseconds,
    page_of,
    sent,
)
from apps.pages.actions import Stamp, stamp_of
from apps.pages.changes.change import Nothing
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.sharing.models import Share, SharedTable
from apps.sharing.names import (
    find_recipient,
    find_share,
    find_shared_table,
    split_full_name,
)
from apps.sharing.shares import changes, grants
from apps.sharing.shares.resources import NewTable
from apps.sharing.shares.tables import changes as tables
from apps.sharing.shares.terms import Terms
from apps.tables.catalogue.names import find_table

SELECT = "SELECT"
NO_START: Final = ""
"""The start version that takes one away: clients leave null out of a body."""
History = Literal["ENABLED", "DISABLED"]


class StartField(IntegerField):
    """A version, or the empty text that takes one away."""

    def to_internal_value(self, data: Any) -> Any:  # noqa: ANN401 (as sent)
        """Return the version."""
        return NO_START if data == NO_START else super().to_internal_value(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataObject:
    """A table of a share; of an update, what is left out or null stays.

    Attributes:
        name: The registered table, as `namespace.table`.
        data_object_type: `TABLE`.
        shared_as: `schema.table`, as recipients write it; as `name`, without.
        comment: What recipients read of it; an empty text removes it.
        history_data_sharing_status: Whether older versions can be read.
        start_version: The first one that can; an empty text for all. Without one,
            the newest version when history is opened.
        cdf_enabled: The older word for history, which counts where that is left out.
        added_at: In milliseconds since 1970.
        added_by: Who put it in; null for the command line.
        status: `ACTIVE`.
    """

    name: str
    data_object_type: Literal["TABLE"] = "TABLE"
    shared_as: str | None = None
    comment: str | None = None
    history_data_sharing_status: History | None = None
    start_version: int | Literal[""] | None = field(
        default=None,
        metadata={"serializer_field": StartField(required=False, allow_null=True)},
    )
    cdf_enabled: bool | None = None
    added_at: int | None = None
    added_by: str | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareInfo:
    """A share.

    Attributes:
        created_at: In milliseconds since 1970.
        created_by: Who made it; null for the command line.
        owner: The same: shares are of all administrators.
        objects: Its tables, where they are asked for.
    """

    name: str
    comment: str
    created_at: int
    created_by: str | None
    owner: str | None
    objects: list[DataObject] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharesPage(NextPage):
    """A page of shares.

    Attributes:
        next_page_token: Of the next one; null on the last.
    """

    shares: list[ShareInfo]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectUpdate:
    """What becomes of a table of a share.

    Attributes:
        action: `ADD`, `UPDATE` or `REMOVE`.
    """

    action: Literal["ADD", "UPDATE", "REMOVE"]
    data_object: DataObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareUpdate:
    """What is to be changed of a share: all of it or nothing.

    Attributes:
        new_name: Another name.
        updates: What becomes of its tables, one after the other.
    """

    new_name: str | None = None
    comment: str | None = None
    updates: list[ObjectUpdate] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a recipient may do with a share.

    Attributes:
        principal: The recipient.
        privileges: `SELECT`.
    """

    principal: str
    privileges: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignments:
    """Who may read a share."""

    privilege_assignments: list[Assignment]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivilegeChange:
    """What changes for a recipient.

    Attributes:
        principal: The recipient.
        add: `SELECT`, to let it read the share.
        remove: `SELECT`, to take the share from it.
    """

    principal: str
    add: list[Literal["SELECT"]] = field(default_factory=list)
    remove: list[Literal["SELECT"]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivilegeChanges:
    """What changes for recipients: all of it or nothing.

    Attributes:
        omit_permissions_list: Whether the answer leaves out who may read it now.
    """

    changes: list[PrivilegeChange] = field(default_factory=list)
    omit_permissions_list: bool = False


class UnityShareList(UnityView):
    """The shares."""

    @endpoint(Role.ADMIN, takes=[PlaceForm], answers=SharesPage)
    def get(self, request: HttpRequest) -> object:
        """List shares, as Unity Catalog does."""
        found, token = page_of(request, Share.objects.select_related("created_by"))
        return SharesPage(shares=[_info(one) for one in found], next_page_token=token)

    @endpoint(Role.ADMIN, body=changes.NewShare, answers=ShareInfo, scope=Scope.SHARE)
    def post(self, request: HttpRequest, body: changes.NewShare) -> object:
        """Make an empty share, as Unity Catalog does."""
        made = changes.CREATE.carry_out(None, body, stamp_of(request))
        return _info(find_share(made.resource.name))


class UnityShareView(UnityView):
    """One share."""

    @endpoint(Role.ADMIN, takes=["include_shared_data"], answers=ShareInfo)
    def get(self, request: HttpRequest, name: str) -> object:
        """Tell what a share is, and what it offers where that is asked for."""
        share = find_share(name)
        is_asked = request.GET.get("include_shared_data", "").lower() == "true"
        return _info(share, with_objects=is_asked)

    @endpoint(Role.ADMIN, body=ShareUpdate, answers=ShareInfo, scope=Scope.SHARE)
    def patch(self, request: HttpRequest, name: str, body: ShareUpdate) -> object:
        """Change a share and its tables, as Unity Catalog does."""
        share, stamp = find_share(name), stamp_of(request)
        with transaction.atomic():
            new = changes.ShareChange(
                name=sent(body.new_name), comment=sent(body.comment)
            )
            changes.UPDATE.carry_out(share, new, stamp)
            for update in body.updates:
                _update_object(share, update, stamp)
        return _info(share, with_objects=True)

    @endpoint(Role.ADMIN, answers={200: None}, scope=Scope.SHARE)
    def delete(self, request: HttpRequest, name: str) -> object:
        """Delete a share with its grants; tables and recipients stay."""
        share = find_share(name)
        changes.DELETE.carry_out(share, Nothing(), stamp_of(request))
        return None


class UnityPermissions(UnityView):
    """Who may read a share."""

    @endpoint(Role.ADMIN, takes=[PlaceForm], answers=Assignments)
    def get(self, name: str) -> object:
        """List who may read a share, as Unity Catalog does."""
        return _assignments(find_share(name))

    @endpoint(Role.ADMIN, body=PrivilegeChanges, answers=Assignments, scope=Scope.SHARE)
    def patch(self, request: HttpRequest, name: str, body: PrivilegeChanges) -> object:
        """Let recipients read a share, or take it from them."""
        share, stamp = find_share(name), stamp_of(request)
        with transaction.atomic():
            for change in body.changes:
                pair = grants.Pair(share, find_recipient(change.principal).name)
                if change.add:
                    grants.ADD.carry_out(pair, Nothing(), stamp)
                if change.remove:
                    grants.REMOVE.carry_out(pair, Nothing(), stamp)
        if body.omit_permissions_list:
            return Assignments(privilege_assignments=[])
        return _assignments(share)


def _update_object(share: Share, update: ObjectUpdate, stamp: Stamp) -> None:
    """Put a table into a share, change what of it is offered, or take it out."""
    wanted = update.data_object
    shared_as = wanted.shared_as or wanted.name
    if update.action == "ADD":
        place = tables.Place(share, *split_full_name(shared_as))
        tables.ADD.carry_out(place, _new_table(wanted), stamp)
        return
    shared = find_shared_table(share, shared_as)
    if update.action == "REMOVE":
        tables.REMOVE.carry_out(shared, Nothing(), stamp)
    else:
        tables.UPDATE.carry_out(shared, _terms(shared, wanted), stamp)


def _new_table(wanted: DataObject) -> NewTable:
    """Return a table that is put into a share, without history unless it is said."""
    is_open, start = _with_history(wanted) is True, _start(wanted)
    if start is UNCHANGED and is_open:
        start = find_table(wanted.name).latest_version_seen
    return NewTable(
        table=wanted.name,
        with_history=is_open,
        start_version=start,
        comment=sent(wanted.comment),
    )


def _terms(shared: SharedTable, wanted: DataObject) -> Terms:
    """Return what changes of a table; its history is opened from now on."""
    with_history, start = _with_history(wanted), _start(wanted)
    is_opened = with_history is True and shared.history_start is None
    if start is UNCHANGED and is_opened and not shared.first_version:
        start = shared.table.latest_version_seen
    return Terms(
        with_history=with_history, start_version=start, comment=sent(wanted.comment)
    )


def _start(wanted: DataObject) -> int | Unchanged | None:
    start = wanted.start_version
    return sent(start) if start is None or isinstance(start, int) else None


def _with_history(wanted: DataObject) -> bool | Unchanged:
    if wanted.history_data_sharing_status is not None:
        return wanted.history_data_sharing_status == "ENABLED"
    return sent(wanted.cdf_enabled)


def _info(share: Share, *, with_objects: bool = False) -> ShareInfo:
    made_by = share.created_by.username if share.created_by else None
    shared = share.shared_tables.select_related("table", "added_by")
    return ShareInfo(
        name=share.name,
        comment=share.comment,
        created_at=milliseconds(share.created_at) or 0,
        created_by=made_by,
        owner=made_by,
        objects=[_object(one) for one in shared] if with_objects else None,
    )


def _object(shared: SharedTable) -> DataObject:
    is_open = shared.history_start is not None
    return DataObject(
        name=shared.table.full_name,
        shared_as=shared.full_name,
        comment=shared.comment,
        history_data_sharing_status="ENABLED" if is_open else "DISABLED",
        start_version=shared.start_version,
        cdf_enabled=is_open,
        added_at=milliseconds(shared.added_at),
        added_by=shared.added_by.username if shared.added_by else None,
        status="ACTIVE",
    )


def _assignments(share: Share) -> Assignments:
    readers = share.recipients.order_by("name_key")
    return Assignments(
        privilege_assignments=[
            Assignment(principal=one.name, privileges=[SELECT]) for one in readers
        ]
    )
