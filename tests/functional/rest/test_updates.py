"""An update by REST changes the fields that it names, and no other.

Every endpoint of PUT or PATCH that has a body is found where it is registered, and each
field of its body has a row below: a new one has to be entered here.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from http import HTTPStatus
from typing import Any, Final
from uuid import UUID

import pytest
from django.db import transaction
from django.urls import URLPattern

from apps.accounts.models import User
from apps.api.unity import recipients as unity_recipients
from apps.api.unity import shares as unity_shares
from apps.api.urls import endpoints, unity_endpoints
from apps.notices.models import Follow, Webhook
from apps.pages.request.changes import UNCHANGED
from apps.tables.catalogue.lakes.changes import NewLake
from tests.support.pages.factories import NOW
from tests.support.pages.kept_rows import changed_since, kept_rows
from tests.support.pages.rest import Script
from tests.support.pages.shared_world import World, shared_world

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
UPDATING: Final = ("put", "patch")
REFUSED: Final = None
"""Of null where there is nothing to remove."""
OFF: Final = False
ON: Final = True
MUTED: Final = {"storedfinding.muted_at", "storedfinding.muted_until"}
SUCCESS: Final = {HTTPStatus.OK, HTTPStatus.ACCEPTED}
UNKNOWN: Final = (400, "'no_such' is not a known parameter")
V1: Final = "api/v1"
UNITY: Final = "api/2.1/unity-catalog"
SHARED: Final = f"PUT {V1}/shares/<str:name>/tables/<str:table>"
RULE: Final = f"{SHARED}/rules/<str:recipient>"
HOLD: Final = f"PUT {V1}/recipients/<str:name>/holds/<str:share>/<str:table>"
UNITY_SHARE: Final = f"PATCH {UNITY}/shares/<str:name>"
UNITY_RECIPIENT: Final = f"PATCH {UNITY}/recipients/<str:name>"
GRANTS: Final = f"PATCH {UNITY}/shares/<str:name>/permissions"


@dataclass(frozen=True)
class Sent:
    """A field that is sent alone.

    Attributes:
        value: Its new value.
        changes: The columns that differ then; None where it is refused.
        removed: Those that differ after null; None where null is refused.
        path: Another thing of the kind, where the usual one cannot have the value.
    """

    value: object
    changes: set[str] | None
    removed: set[str] | None = REFUSED
    path: str = ""


def alone(value: object, column: str) -> Sent:
    """A field that always has a value."""
    return Sent(value, {column})


def removable(value: object, column: str) -> Sent:
    """A field whose value can be removed."""
    return Sent(value, {column}, {column})


def name_of(*, owner: str) -> Sent:
    """A name."""
    return alone("other", f"{owner}.name")


@dataclass(frozen=True)
class Update:
    """An endpoint that changes something.

    Attributes:
        path: Of the thing that is changed.
        sent: Its fields.
        needed: What every body of it has.
        within: Where in a body of Unity Catalog the fields are.
    """

    path: str
    sent: Mapping[str, Sent]
    needed: Mapping[str, Any] | None = None
    within: str = ""


RECIPIENT: Final = {
    "contact": removable("new@acme.example", "recipient.contact"),
    "comment": removable("new", "recipient.comment"),
    "allowed_networks": removable(["10.0.0.0/8"], "recipient.allowed_networks"),
    "properties": removable(["region=US"], "recipient.properties"),
    "soft_limit": removable("1.5 MiB", "recipient.soft_limit_bytes"),
    "hard_limit": removable("3 MiB", "recipient.hard_limit_bytes"),
    "shares": Sent(["retail", "wholesale"], {"+grant"}, {"-grant"}),
}
LAKE_RULE: Final = {
    "namespace": removable("other", "lake.namespace"),
    "schedule": removable("6h", "lake.scan_interval_s"),
}
OFFER: Final = {
    "table": Sent("sales.orders", set()),
    "comment": removable("new", "sharedtable.comment"),
    "with_history": alone(OFF, "sharedtable.with_history"),
    "start_version": removable(2, "sharedtable.start_version"),
    "condition": removable("id > 4", "sharedtable.condition"),
    "partition_filter": removable("id > 4", "sharedtable.condition"),
    "columns": removable(["id", "note"], "sharedtable.columns"),
    "plain": removable(OFF, "sharedtable.plain"),
    "with_directory": Sent(
        OFF,
        {"sharedtable.with_directory"},
        path=f"/{V1}/shares/retail/tables/crm.folder",
    ),
}
# Its clients send no null, and one that is sent is as a field that is left out.
OBJECT: Final = {
    "comment": Sent("new", {"sharedtable.comment"}, set()),
    "history_data_sharing_status": Sent(
        "DISABLED", {"sharedtable.with_history"}, set()
    ),
    "start_version": Sent(2, {"sharedtable.start_version"}, set()),
    "cdf_enabled": Sent(OFF, {"sharedtable.with_history"}, set()),
    **dict.fromkeys(("added_at", "added_by", "status"), Sent(None, set(), set())),
}
UPDATES: Final = {
    f"PATCH {V1}/me": Update(
        f"/{V1}/me",
        {
            "theme": alone("dark", "user.theme"),
            "time_zone": alone("Europe/Berlin", "user.time_zone"),
        },
    ),
    f"PATCH {V1}/users/<str:name>": Update(
        f"/{V1}/users/bob",
        {
            "role": alone("viewer", "user.role"),
            "active": alone(OFF, "user.is_active"),
        },
    ),
    f"PUT {V1}/me/email": Update(
        f"/{V1}/me/email", {"email": alone("new@northwind.example", "user.email")}
    ),
    f"PUT {V1}/users/<str:name>/email": Update(
        f"/{V1}/users/bob/email",
        {"email": alone("new@northwind.example", "user.email")},
    ),
    f"PATCH {V1}/follows/<int:follow_id>": Update(
        f"/{V1}/follows/{{follow.id}}",
        {
            "kinds": alone(["table.version"], "follow.kinds"),
            "breaking_only": alone(ON, "follow.breaking_only"),
            "bell": Sent(ON, set()),
            "mail": alone(ON, "follow.by_mail"),
            "webhooks": Sent([], set()),
            "often": alone("daily", "follow.often"),
        },
    ),
    f"PATCH {V1}/webhooks/<uuid:webhook_id>": Update(
        f"/{V1}/webhooks/{{webhook.id}}",
        {
            "url": Sent("https://1.1.1.1/new", {"webhook.url", "webhook.host"}),
            "breaking_only": alone(ON, "webhook.breaking_only"),
        },
    ),
    f"PATCH {V1}/groups/<str:name>": Update(
        f"/{V1}/groups/sales",
        {
            "name": name_of(owner="group"),
            "description": removable("new", "group.description"),
        },
    ),
    f"PUT {V1}/tables/<str:namespace>/<str:name>/repeats/<str:operation>": Update(
        f"/{V1}/tables/sales/orders/repeats/vacuum",
        {
            "every": alone("day", "repeatedoperation.every"),
            "at": alone("04:00", "repeatedoperation.at"),
            "keep": removable("20d", "repeatedoperation.parameters"),
        },
    ),
    f"PATCH {V1}/tables/<str:namespace>/<str:name>": Update(
        f"/{V1}/tables/sales/orders",
        {
            "name": alone("sales.other", "table.name"),
            "description": removable("New", "table.description"),
            "restricted": alone(OFF, "table.is_private"),
            "refresh": removable("6h", "table.refresh_interval_s"),
            "owner": removable("vera", "table.owned_by_id"),
            "tags": removable(["finance"], "table.tags"),
        },
    ),
    f"PATCH {V1}/tables/<str:namespace>/<str:name>/access": Update(
        f"/{V1}/tables/sales/orders/access",
        {
            "private": alone(OFF, "table.is_private"),
            "listed": alone(not OFF, "table.is_listed"),
        },
    ),
    f"PATCH {V1}/namespaces/<str:namespace>/access": Update(
        f"/{V1}/namespaces/sales/access",
        {
            "private": alone(not OFF, "namespace.is_private"),
            "listed": alone(not OFF, "namespace.is_listed"),
            "description": Sent("Orders", {"namespace.description"}, set()),
            "owner": Sent("vera", {"namespace.owned_by_id"}, set()),
        },
    ),
    f"PUT {V1}/health/thresholds/<str:namespace>/<str:threshold>": Update(
        f"/{V1}/health/thresholds/raw/small_files",
        {"value": Sent(70, {"namespacethresholds.values"}, {"-namespacethresholds"})},
    ),
    f"PATCH {V1}/health/<int:finding_id>": Update(
        f"/{V1}/health/{{finding.pk}}",
        {
            "acknowledged": alone(OFF, "storedfinding.acknowledged_at"),
            "muted_until": Sent("7d", MUTED, MUTED),
            "assignee": removable("eve", "storedfinding.assignee_id"),
        },
    ),
    f"PATCH {V1}/lakes/<uuid:lake_id>": Update(f"/{V1}/lakes/{{lake.id}}", LAKE_RULE),
    f"PATCH {V1}/shares/<str:name>": Update(
        f"/{V1}/shares/retail",
        {
            "name": name_of(owner="share"),
            "comment": removable("new", "share.comment"),
            "description": removable("new", "share.description"),
            "listed": alone(OFF, "share.is_listed"),
            "is_on": alone(OFF, "share.off_since"),
        },
    ),
    SHARED: Update(f"/{V1}/shares/retail/tables/crm.orders", OFFER),
    RULE: Update(
        f"/{V1}/shares/retail/tables/crm.orders/rules/acme",
        {
            "condition": removable("id > 6", "recipientrule.condition"),
            "columns": removable([], "recipientrule.columns"),
        },
    ),
    f"PATCH {V1}/recipients/<str:name>": Update(f"/{V1}/recipients/acme", RECIPIENT),
    HOLD: Update(
        f"/{V1}/recipients/acme/holds/retail/crm.orders",
        {
            "until": alone("30d", "hold.ends_at"),
            "version": removable(2, "hold.version"),
        },
    ),
    f"PUT {V1}/recipients/<str:name>/mail-sign-in": Update(
        f"/{V1}/recipients/acme/mail-sign-in",
        {"address": alone("data@acme.example", "recipient.mail_sign_in_since")},
    ),
    f"PATCH {V1}/recipients/<str:name>/tokens/<uuid:token_id>": Update(
        f"/{V1}/recipients/acme/tokens/{{token.id}}",
        {"ends": alone("7d", "recipienttoken.retires_at")},
    ),
    UNITY_SHARE: Update(
        f"/{UNITY}/shares/retail",
        {
            "new_name": Sent("other", {"share.name"}, set()),
            "comment": Sent("new", {"share.comment"}, set()),
            "updates": Sent([], set()),
        },
    ),
    GRANTS: Update(
        f"/{UNITY}/shares/retail/permissions",
        {
            "changes": Sent([{"principal": "acme", "remove": ["SELECT"]}], {"-grant"}),
            "omit_permissions_list": Sent(not OFF, set()),
        },
    ),
    UNITY_RECIPIENT: Update(
        f"/{UNITY}/recipients/acme",
        {
            "comment": Sent("new", {"recipient.comment"}, set()),
            "ip_access_list": Sent(
                {"allowed_ip_addresses": ["10.0.0.0/8"]},
                {"recipient.allowed_networks"},
                set(),
            ),
        },
    ),
}
# What changes something that is there, by other methods or in the parts of a body.
OTHERS: Final = {
    f"POST {V1}/tables/scan": (
        Update(f"/{V1}/tables/scan", LAKE_RULE, needed={"url": "{lake.url}"}),
        NewLake,
    ),
    f"{UNITY_SHARE} updates": (
        Update(
            f"/{UNITY}/shares/retail",
            OBJECT,
            needed={
                "name": "sales.orders",
                "shared_as": "crm.orders",
                "data_object_type": "TABLE",
            },
            within="updates",
        ),
        unity_shares.DataObject,
    ),
    f"{UNITY_RECIPIENT} ip_access_list": (
        Update(
            f"/{UNITY}/recipients/acme",
            {
                "allowed_ip_addresses": Sent(
                    [""], {"recipient.allowed_networks"}, set()
                ),
            },
            within="ip_access_list",
        ),
        unity_recipients.AddressList,
    ),
}
ALL: Final = UPDATES | {key: update for key, (update, _) in OTHERS.items()}


def registered() -> Iterator[tuple[str, type | None]]:
    """Every endpoint as `PATCH api/v1/me`, with the dataclass of its body."""
    for pattern in (*endpoints, *unity_endpoints):
        assert isinstance(pattern, URLPattern)
        view = pattern.callback.cls  # type: ignore[attr-defined]  # of DRF
        for method in view.http_method_names:
            declared = getattr(getattr(view, method, None), "endpoint", None)
            if declared is not None:
                yield f"{method.upper()} {pattern.pattern}", declared.body


def bodies() -> dict[str, type]:
    """The body of every update, by its endpoint."""
    found = {
        key: body
        for key, body in registered()
        if body is not None and key.partition(" ")[0].lower() in UPDATING
    }
    return found | {key: body for key, (_, body) in OTHERS.items()}


@dataclass(frozen=True, kw_only=True)
class OwnWorld(World):
    """A world in which the user of the script follows something."""

    follow: Follow
    webhook: Webhook


@pytest.fixture
def world(tmp_path, script) -> World:
    made = shared_world(tmp_path)
    others = {one.name: getattr(made, one.name) for one in fields(made)}
    own = {"user": script.user, "created_at": NOW}
    webhook = Webhook.objects.create(url="https://a", host="a", salt="s", **own)
    follow = Follow.objects.create(
        subject_kind="table", subject_id="x", kinds=["table.schema"], **own
    )
    return OwnWorld(**others, follow=follow, webhook=webhook)


@pytest.fixture
def script() -> Script:
    return Script(*("read", "write", "share", "admin"), role=User.Role.ADMIN)


def filled(value: object, world: World) -> object:
    return value.format_map(vars_of(world)) if isinstance(value, str) else value


def vars_of(world: World) -> dict[str, Any]:
    return {one.name: getattr(world, one.name) for one in fields(world)}


def called(
    script: Script, key: str, world: World, path: str = "", **sent: object
) -> int:
    """Send a body; return the status of the answer."""
    update = ALL[key]
    needed = (update.needed or {}).items()
    body = {name: filled(value, world) for name, value in needed} | sent
    if update.within == "updates":
        body = {"updates": [{"action": "UPDATE", "data_object": body}]}
    elif update.within:
        body = {update.within: body}
    method = key.partition(" ")[0]
    there = str(filled(path or update.path, world))
    return int(script.call(method, there, body).status_code)


def test_every_field_of_every_update_is_entered_here() -> None:
    missing = {
        key: names
        for key, body in bodies().items()
        if (names := {one.name for one in fields(body)} - entered(key))
    }

    assert missing == {}
    assert bodies().keys() == ALL.keys()


def entered(key: str) -> set[str]:
    update = ALL.get(key)
    return set() if update is None else {*update.sent, *(update.needed or {})}


def test_no_field_of_an_update_has_a_default_of_its_own() -> None:
    """Of Unity Catalog, null is as a field that is left out."""
    wrong = {
        f"{key} {one.name}"
        for key, body in bodies().items()
        for one in fields(body)
        if not is_left_alone(one, by_null=UNITY in key)
    }

    assert wrong == {f"{UNITY_SHARE} updates data_object_type"}


def is_left_alone(one: Field[Any], *, by_null: bool) -> bool:
    """Whether a field that is left out says nothing."""
    if one.default_factory is not MISSING:
        return by_null and one.default_factory() == []
    silent = (MISSING, None, False) if by_null else (MISSING, UNCHANGED)
    return any(one.default is word for word in silent)


@pytest.mark.parametrize("key", ALL)
def test_a_field_that_is_sent_alone_changes_nothing_else(key, script, world) -> None:
    sent = ALL[key].sent

    found = {
        name: outcome(script, key, world, one.path, **{name: one.value})
        for name, one in sent.items()
    }

    assert found == {name: (True, one.changes) for name, one in sent.items()}


@pytest.mark.parametrize("key", ALL)
def test_null_removes_a_value_or_is_refused(key, script, world) -> None:
    sent = ALL[key].sent

    found = {
        name: outcome(script, key, world, one.path, **{name: None})
        for name, one in sent.items()
    }

    assert found == {
        name: (False, set()) if one.removed is REFUSED else (True, one.removed)
        for name, one in sent.items()
    }


@pytest.mark.parametrize("key", ALL)
def test_an_empty_body_changes_nothing(key, script, world) -> None:
    _, changed = outcome(script, key, world)

    assert changed == set()


def outcome(
    script: Script, key: str, world: World, path: str = "", **sent: object
) -> tuple[bool, set[str]]:
    """Whether a call succeeds, and the columns that differ then."""
    with transaction.atomic():
        before = kept_rows()
        status = called(script, key, world, path, **sent)
        changed = changed_since(before)
        transaction.set_rollback(True)
    assert status in {
        *SUCCESS,
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    }
    return status in SUCCESS, changed


def test_a_name_that_is_not_known_is_refused_everywhere(script) -> None:
    taking = [key for key, body in registered() if body is not None]

    said = {key: refusal_of_unknown(script, key) for key in taking}

    assert len(taking) >= 50
    assert {key: one for key, one in said.items() if one != UNKNOWN} == {}


def refusal_of_unknown(script: Script, key: str) -> tuple[int, str]:
    """The refusal of a body with a name that no body has."""
    method, _, pattern = key.partition(" ")
    path = re.sub(r"<uuid:\w+>", str(UUID(int=0)), pattern)
    path = re.sub(r"<int:\w+>", "0", path)
    path = re.sub(r"<str:\w+>", "x", path)
    answer = script.call(method, f"/{path}", {"no_such": 1})
    return answer.status_code, answer.json()["message"].partition(".")[0]
