"""One thing of each kind that people set, with every field set."""

from dataclasses import dataclass
from datetime import time
from pathlib import Path
from typing import Final

from apps.accounts.models import Group, User
from apps.pages.actions import command_stamp
from apps.sharing.models import Hold, LastRead, RecipientToken, SharedTable
from apps.tables.catalogue.lakes.services import LakeRule, add_lake
from apps.tables.models import (
    Lake,
    Namespace,
    NamespaceThresholds,
    RepeatedOperation,
    StoredFinding,
    Table,
)
from apps.tables.storage.connections import add_connection
from deltaweb.storage.objects.vending.options import ROLE_OPTION
from tests.support.pages.factories import (
    FAR_AHEAD,
    NOW,
    new_grant,
    new_grant_of_right,
    new_metadata,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
    new_user,
)
from tests.support.pages.findings import stored

MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What was made.

    Attributes:
        part: A table that is shared in part.
        folder: A table that is shared with its folder.
    """

    part: SharedTable
    folder: SharedTable
    token: RecipientToken
    lake: Lake
    table: Table
    finding: StoredFinding


def shared_world(lake: Path) -> World:
    """Make a share, its tables and rule, a recipient, a lake and accounts.

    Args:
        lake: An empty folder.
    """
    bob = new_user("bob", role=User.Role.EDITOR)
    Group.objects.create(name="sales", description="Shops", created_at=NOW)
    new_user("vera")
    eve = new_user("eve", role=User.Role.EDITOR)
    texts = {"comment": "of the shop", "description": "Sales of the shop"}
    share = new_share("retail", is_listed=True, **texts)
    new_share("wholesale")
    Namespace.objects.ensure(["sales"], NOW)
    orders = new_table(
        "sales.orders",
        description="All",
        is_private=True,
        refresh_interval_s=3600,
        owned_by=bob,
        tags=["pii"],
    )
    new_metadata(orders)
    new_grant_of_right("edit", orders, eve)
    part = new_shared_table(
        share,
        "crm.orders",
        table=orders,
        comment="of the North",
        start_version=1,
        condition="id > 3",
        columns=["id"],
        plain=True,
    )
    place = new_table("sales.folder", location="s3://lake/folder")
    add_connection(
        name="lake",
        prefix="s3://lake",
        options={ROLE_OPTION: "arn:aws:iam::1:role/x"},
        stamp=command_stamp(),
    )
    folder = new_shared_table(share, "crm.folder", table=place, with_directory=True)
    acme = new_recipient(
        "acme",
        contact="data@acme.example",
        comment="ticket 7",
        allowed_networks=["192.0.2.0/24"],
        properties={"region": "EU"},
        soft_limit_bytes=MIB,
        hard_limit_bytes=2 * MIB,
    )
    new_grant(share, acme)
    part.rules.create(recipient=acme, condition="id > 5", columns=["id"])
    token, _ = new_token(acme, retires_at=FAR_AHEAD)
    read = {"shared_table": part, "token": token, "read_at": NOW}
    LastRead.objects.create(version=2, **read)
    Hold.objects.create(
        recipient=acme, shared_table=part, version=1, ends_at=FAR_AHEAD, made_at=NOW
    )
    RepeatedOperation.objects.create(
        table=orders,
        operation="vacuum",
        every="sunday",
        at=time(3),
        parameters={"hours": 720},
        due_at=FAR_AHEAD,
        created_at=NOW,
    )
    NamespaceThresholds.objects.create(
        namespace="raw", values={"small_files": 60}, changed_at=NOW
    )
    (finding,) = stored(orders)
    finding.acknowledged_at = finding.assigned_at = finding.muted_at = NOW
    finding.muted_until, finding.assignee = FAR_AHEAD, bob
    finding.save()
    return World(
        part=part,
        folder=folder,
        token=token,
        lake=add_lake(
            str(lake), LakeRule(namespace="raw", schedule="1h"), stamp=command_stamp()
        ),
        table=orders,
        finding=finding,
    )
