"""REST does what commands and pages do: each of them has an endpoint, or a reason.

Both are found where they are registered, so that a new one has to be entered here.
"""

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

import pytest
from django.core.management import get_commands, load_command_class
from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver

from apps.accounts.models import User
from apps.api.urls import described
from apps.api.urls import endpoints as rest
from apps.jobs import kinds
from apps.pages.changes.change import Change, changes
from apps.pages.command import SubcommandsCommand, VerbsCommand
from apps.tables.operations.operation import operations
from deltaweb.environment.command_lines import COMMANDS

TABLE: Final = "tables/{namespace}/{name}"
SHARE: Final = "shares/{name}"
RECIPIENT: Final = "recipients/{name}"
TOKEN: Final = f"{RECIPIENT}/tokens/{{token_id}}"
USER: Final = "users/{name}"

BY_COMMAND: Final = {
    "table add": "POST tables",
    "table changes": f"GET {TABLE}/changes",
    "table check-files": f"POST {TABLE}/check-files",
    "table convert": "POST tables/convert",
    "table create": "POST tables/create",
    "table diff": f"GET {TABLE}/diff",
    "table explain": f"GET {TABLE}/skipping",
    "table history": f"GET {TABLE}/versions",
    "table import": f"POST {TABLE}/operations/import_rows",
    "table label": f"PATCH {TABLE}",
    "table list": "GET tables",
    "table refresh": f"POST {TABLE}/refresh",
    "table rename": f"PATCH {TABLE}",
    "table rows": f"GET {TABLE}/rows",
    "table scan": "POST tables/scan",
    "table schedule": f"PATCH {TABLE}",
    "table show": f"GET {TABLE}",
    "table survey": f"GET {TABLE}/survey",
    "health list": "GET health",
    "health acknowledge": "PATCH health/{finding_id}",
    "health assign": "PATCH health/{finding_id}",
    "health mute": "PATCH health/{finding_id}",
    "parquet rows": "GET parquet",
    "parquet schema": "GET parquet",
    "parquet show": "GET parquet",
    "storage list": "GET storages",
    "share prepare": f"POST {SHARE}/prepare",
    "share add-table": f"PUT {SHARE}/tables/{{table}}",
    "share narrow": f"PUT {SHARE}/tables/{{table}}/rules/{{recipient}}",
    "share off": f"PATCH {SHARE}",
    "share on": f"PATCH {SHARE}",
    "share list": "GET shares",
    "share show": f"GET {SHARE}",
    "recipient list": "GET recipients",
    "recipient reminders": "GET reminders",
    "recipient show": f"GET {RECIPIENT}",
    "recipient see": f"GET {RECIPIENT}/seen",
    "recipient usage": f"GET {RECIPIENT}/usage",
    "recipient doctor": f"POST {RECIPIENT}/doctor",
    "recipient rehearse": f"POST {RECIPIENT}/rehearse",
    "recipient grant": f"PUT {SHARE}/grants/{{recipient}}",
    "recipient ungrant": f"DELETE {SHARE}/grants/{{recipient}}",
    "recipient rotate": f"POST {RECIPIENT}/rotate",
    "recipient revoke": f"DELETE {RECIPIENT}/tokens",
    "recipient limit": f"PATCH {RECIPIENT}",
    "received list": "GET received",
    "received refresh": "POST received/{name}/refresh",
    "user set-role": f"PATCH {USER}",
    "user disable": f"PATCH {USER}",
    "user enable": f"PATCH {USER}",
    "user list": "GET users",
    "user invitations": "GET invitations",
    "switch list": "GET switches",
    "restored show": "GET restored",
    "group list": "GET groups",
    "group show": "GET groups/{name}",
    "follow list": "GET follows",
    "unfollow list": "GET follows",
    "unfollow begin": "POST follows",
    "unfollow stop": "DELETE follows/{follow_id}",
    "webhook list": "GET webhooks",
    "namespace list": "GET namespaces",
    "namespace show": "GET namespaces/{namespace}/access",
    "grant list": f"GET {TABLE}/access",
    "grant view": f"POST {TABLE}/grants",
    "grant edit": f"POST {TABLE}/grants",
    "grant share": f"POST {TABLE}/grants",
    "grant own": f"POST {TABLE}/grants",
    "grant end": "DELETE access-grants/{grant_id}",
    "access list": f"GET {TABLE}/access",
    "access show": f"GET {TABLE}/access",
}
"""The verbs of operations and changes are not here: they say their endpoints."""
COMMANDS_APART: Final = {
    "serve": "starts the server that answers",
    "open": "starts the server that answers",
    "demo": "starts the server that answers",
    "web": "is the server that answers",
    "worker": "is the process that does the jobs",
    "beat": "is the process that asks for jobs by the clock",
    "migrate": "nothing answers before it is done",
    "completion": "is of a shell",
    "doctor": "looks at the machine that it runs on",
    "sso check": "looks at the settings of the machine that it runs on",
    "backup": "no key that was stolen may fetch every secret",
    "restore": "replaces what answers",
    "follow kinds": "a list that OpenAPI has",
    "unfollow kinds": "a list that OpenAPI has",
}
BY_PAGE: Final = {
    "accounts:set-role": f"PATCH {USER}",
    "accounts:disable-user": f"PATCH {USER}",
    "accounts:enable-user": f"PATCH {USER}",
    "operate:restored-compare": "POST restored/compare",
    "jobs:job-cancel": "POST jobs/{job_id}/cancel",
    "jobs:job-retry": "POST jobs/{job_id}/retry",
    "tables:location-check": "POST tables/check",
    "tables:load-samples": "POST tables/samples",
    "tables:table-new-create": "POST tables/create",
    "tables:table-new-convert": "POST tables/convert",
    "tables:table-new-import": "POST tables/import",
    "tables:table-maintenance": f"POST {TABLE}/operations/vacuum",
    "tables:table-refresh": f"POST {TABLE}/refresh",
    "tables:table-check-files": f"POST {TABLE}/check-files",
    "explorer:column-profile": f"POST {TABLE}/schema/{{column}}",
    "explorer:schema-profile": f"POST {TABLE}/schema",
    "explorer:compare-start": f"POST {TABLE}/diff",
    "explorer:place-again": "POST parquet",
    "sharing:share-switch": f"PATCH {SHARE}",
    "sharing:share-prepare": f"POST {SHARE}/prepare",
    "sharing:share-part": f"PUT {SHARE}/tables/{{table}}",
    "sharing:shared-table-add": f"PUT {SHARE}/tables/{{table}}",
    "sharing:shared-table-update": f"PUT {SHARE}/tables/{{table}}",
    "sharing:table-share": f"PUT {SHARE}/tables/{{table}}",
    "sharing:table-share-update": f"PUT {SHARE}/tables/{{table}}",
    "sharing:schema-add": f"POST {SHARE}/schemas",
    "sharing:received-add": "POST received",
    "sharing:received-look": "POST received/{name}/refresh",
    "sharing:recipient-limits": f"PATCH {RECIPIENT}",
    "sharing:recipient-doctor": f"POST {RECIPIENT}/doctor",
    "sharing:recipient-rehearsals": f"POST {RECIPIENT}/rehearse",
    "sharing:token-new": f"POST {RECIPIENT}/tokens",
    "sharing:token-rotate": f"POST {RECIPIENT}/rotate",
    "sharing:token-link": f"POST {RECIPIENT}/activation-links",
}
"""Pages of operations and changes are not here, as above."""
PAGES_APART: Final = {
    "accounts:sign-in": "a key is what a script signs in by",
    "accounts:use-link": "as signing in by a password",
    "accounts:sign-out": "a key has no session",
    "accounts:confirm-address": "a link of a mail, for its reader",
    "accounts:sso-logout": "the provider calls it",
    "notices:follow-breaking": "two fields of `PATCH follows/{follow_id}`",
    "accounts:change-password": "a key that was stolen must not become a password",
    "sharing:share-new": "it does in steps what `shares` and `recipients` do",
    "sharing:activate": "it is for recipients, who have no key",
}
JSON_APART: Final = {
    "accounts:key-list": "GET me",
    "accounts:group-detail": "GET groups/{name}",
    "notices:received": "GET events",
    "jobs:status": "for monitors: its address takes no key",
    "explorer:compare-latest": f"GET {TABLE}/diff",
    "explorer:compare-detail": f"GET {TABLE}/diff",
    "explorer:compare-named": f"GET {TABLE}/diff",
    "explorer:row-by-key": f"GET {TABLE}/rows/{{row}}",
    "sharing:share-settings": f"GET {SHARE}",
    "tables:lake-new": "an empty form",
}
"""Forms that take POST are not here: a script fills none."""

OTHER_APPS: Final = {"api", "sharing_api", "iceberg", "portal"}
SAMPLES: Final = {"UUIDConverter": "00000000-0000-4000-8000-000000000000"}


@pytest.fixture(scope="module")
def calls() -> set[str]:
    """Every endpoint, as `GET tables`."""
    return {
        f"{method.upper()} {path.removeprefix('/api/v1/')}"
        for path, methods in described()["paths"].items()
        for method in methods
    }


def commands() -> Iterator[tuple[str, Any]]:
    """Yield each command, and each verb of one with its class where it has one."""
    holders = get_commands()
    for name in COMMANDS:
        command = load_command_class(str(holders[name]), name)
        if not isinstance(command, SubcommandsCommand):
            yield name, None
            continue
        for verb in command.described():
            found = command.verb(verb) if isinstance(command, VerbsCommand) else None
            yield f"{name} {verb}", found


def test_every_command_is_an_endpoint_or_has_a_reason(calls: set[str]) -> None:
    of_changes = {f"{one.of.noun} {one.name}": change_call(one) for one in with_call()}
    found = {
        name: (BY_COMMAND | of_changes).get(name)
        or (operation_call(verb.operation.name) if hasattr(verb, "operation") else "")
        for name, verb in commands()
    }

    assert BY_COMMAND.keys() <= found.keys()
    assert without_endpoint(found, calls) == COMMANDS_APART.keys()


def test_what_a_page_does_is_an_endpoint_or_has_a_reason(calls: set[str]) -> None:
    kinds.all_kinds()
    of_operations = {one.page: operation_call(one.name) for one in operations}
    of_changes = {name: change_call(one) for one in with_call() for name in one.pages}
    entered = of_operations | BY_PAGE
    found = {
        name: entered.get(name) or of_changes.get(name.partition(":")[2], "")
        for name, pattern in pages()
        if not name.endswith(("-json", "-csv")) and takes_post(pattern)
    }

    assert BY_PAGE.keys() <= found.keys()
    assert without_endpoint(found, calls) == PAGES_APART.keys()


def test_what_a_page_tells_is_an_endpoint_or_has_a_reason(calls: set[str]) -> None:
    told = {
        getattr(getattr(one.callback.cls, "get", None), "page", None) for one in rest
    }
    forms = {name for name, pattern in pages() if takes_post(pattern)}

    apart = {
        name.removesuffix("-json")
        for name, pattern in pages()
        if name.endswith("-json") and pattern.callback not in told
    } - {name.removesuffix("-json") for name in forms}

    assert apart == JSON_APART.keys()
    assert {call for call in JSON_APART.values() if call.startswith("GET ")} <= calls


def without_endpoint(found: Mapping[str, str], calls: set[str]) -> set[str]:
    return {name for name, call in found.items() if call not in calls}


def operation_call(name: str) -> str:
    return f"POST {TABLE}/operations/{name}"


def with_call() -> list[Change[Any, Any, Any]]:
    """Return the changes with a call; others share that of another change."""
    return [one for one in changes if one.call is not None]


def change_call(change: Change[Any, Any, Any]) -> str:
    call = change.call
    assert call is not None
    route = re.sub(r"<[a-z]+:([a-z_]+)>", r"{\1}", call.route)
    return f"{call.method} {route}"


def pages(patterns=None, app=""):
    """Yield the pages of the apps, and their other forms, by their URL names."""
    for one in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(one, URLResolver):
            if one.app_name not in OTHER_APPS:
                yield from pages(one.url_patterns, one.app_name or app)
        elif one.name and app:
            yield f"{app}:{one.name}", one


def takes_post(pattern: URLPattern) -> bool:
    """Whether a view does anything with a POST but to refuse it as one."""
    request = RequestFactory().post("/")
    request.user = User(username="ada", role=User.Role.ADMIN)
    parts = {
        name: converter.to_python(SAMPLES.get(type(converter).__name__, "1"))
        for name, converter in pattern.pattern.converters.items()
    }
    try:
        answer = pattern.callback(request, **parts, **pattern.default_args)
    except Exception:  # noqa: BLE001 (there is no database, session or table)
        return True
    return bool(answer.status_code != HTTPStatus.METHOD_NOT_ALLOWED)
