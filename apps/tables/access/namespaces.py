"""What owners change of a namespace: its description, its owner, who can see it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce

from apps.accounts.models import User
from apps.pages.actions import FieldChange, Stamp, report_changes
from apps.pages.changes.change import (
    VIEWER,
    Call,
    Change,
    Page,
    Subject,
    Verb,
    locked,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.request.changes import UNCHANGED, Unchanged, value_of
from apps.tables.access.giving import access_action
from apps.tables.access.granting import (
    NAMESPACE,
    Privacy,
    PrivacyResource,
    owned_namespace,
    said_of_privacy,
    set_privacy,
)
from apps.tables.access.place import ALL, Place
from apps.tables.catalogue.names import parse_namespace
from apps.tables.catalogue.organizing.labels import find_owner
from apps.tables.errors import NamespaceNotFoundError
from apps.tables.models import Namespace, Table
from apps.tables.models.namespaces import MAX_DESCRIPTION_LENGTH


# Without slots, as a second base.
@dataclass(frozen=True, kw_only=True)
class About:
    """What the catalog says of a namespace; a value that is left out stays.

    Attributes:
        description: Its description in the catalog; null removes it.
        owner: The name of the account to ask about it; null removes it. Being the
            owner gives no right.
    """

    description: str | Unchanged | None = parameter(
        UNCHANGED,
        "--description",
        removed_by="--no-description",
        line=Line(label="Description", most=MAX_DESCRIPTION_LENGTH),
        metavar="TEXT",
        help="its description in the catalog",
    )
    owner: str | Unchanged | None = parameter(
        UNCHANGED,
        "--owner",
        removed_by="--no-owner",
        line=Line(label="Owner", most=150, codes=("table-owner-unknown",)),
        metavar="ACCOUNT",
        help="the account to ask about it",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceChange(About, Privacy):
    """The values of a namespace that change; a value that is left out stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceResource(PrivacyResource):
    """A namespace, and who can see its tables.

    Attributes:
        owner: The account to ask about it; null without one.
        num_tables: The number of its tables.
    """

    description: str
    owner: str | None
    num_tables: int


def namespace_named(name: str) -> str:
    """Return the name of the namespace that a command means by `sales` or `sales.*`."""
    text = parse_namespace(name.strip().removesuffix(ALL))
    if not text:
        raise NamespaceNotFoundError(name=name)
    return text


def name_of_owned(caller: User, namespace: str) -> str:
    """Return the name of a namespace whose access a user decides."""
    return Place(owned_namespace(caller, namespace)).namespace.name


def existing_namespace(name: str) -> Namespace:
    """Return a namespace that exists."""
    found = Namespace.objects.select_related("owned_by")
    for one in found.filter(name=namespace_named(name)):
        return one
    raise NamespaceNotFoundError(name=name)


def change_namespace(
    name: str, new: NamespaceChange, stamp: Stamp
) -> NamespaceResource:
    """Change the description or the owner of a namespace, or who can see it.

    A namespace that has no table yet is made, so that it can be private before its
    first table.
    """
    Namespace.objects.ensure([name], stamp.at)
    space = locked(Namespace.objects.get(name=name))
    description = value_of(new.description, space.description, removed="").strip()
    owner = space.owned_by
    if not isinstance(new.owner, Unchanged) and new.owner != space.owner_name:
        owner = find_owner(new.owner) if new.owner else None
    changes = [
        FieldChange("namespace.describe", space.description, description),
        FieldChange("namespace.set_owner", space.owner_name, owner and owner.username),
    ]
    if report_changes(access_action("", Place(space), stamp), changes):
        space.description, space.owned_by = description, owner
        space.save(update_fields=["description", "owned_by"])
    set_privacy(space, new, stamp)
    return next(namespace_resources([space]))


def namespace_resources(spaces: Iterable[Namespace]) -> Iterator[NamespaceResource]:
    """Yield namespaces, each with the number of its tables."""
    rows = list(spaces)
    tables = Table.objects.filter(namespace=OuterRef("name")).order_by()
    counted = tables.values("namespace").annotate(rows=Count("id")).values("rows")
    numbers = dict(
        Namespace.objects.filter(id__in=[one.id for one in rows])
        .annotate(num_tables=Coalesce(Subquery(counted), 0))
        .values_list("id", "num_tables")
    )
    for one in rows:
        yield NamespaceResource(
            on=Place(one).name,
            description=one.description,
            owner=one.owner_name,
            private=one.is_private,
            listed=one.is_listed,
            num_tables=numbers[one.id],
        )


def said_of_namespace(one: NamespaceResource) -> str:
    """Return a namespace in sentences."""
    owner = f" Its owner is {one.owner}." if one.owner else ""
    empty = "" if one.num_tables else " It has no table yet."
    return f"{said_of_privacy(one)}{owner}{empty}"


OF_NAMESPACE: Final = Subject(
    noun="namespace", role=VIEWER, scope="admin", find=namespace_named
)
SET: Final = Change(
    of=OF_NAMESPACE,
    name="set",
    help="Change a namespace's description or owner, or who can see its tables.",
    parameters=NamespaceChange,
    do=change_namespace,
    result=NamespaceResource,
    says=said_of_namespace,
    record=(
        *("access.set_private", "access.set_listed"),
        *("namespace.describe", "namespace.set_owner"),
    ),
    verb=Verb(),
    call=Call(
        "PATCH",
        "namespaces/<str:namespace>/access",
        view="NamespaceAccess",
        find=name_of_owned,
    ),
    page=Page(
        f"{NAMESPACE}/access/set",
        back=lambda name: Place(Namespace(name=name)).access_url,
        name="namespace-set",
        find=name_of_owned,
    ),
)
