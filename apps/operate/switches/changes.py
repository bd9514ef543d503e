"""What administrators change of switches: off with a sentence, and on."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.shortcuts import resolve_url

from apps.operate.models import MAX_SENTENCE, Switch
from apps.operate.switches.state import SWITCHES, SwitchKind, find_switch, turn
from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    ADMIN,
    Call,
    Change,
    Nothing,
    Page,
    Subject,
    Verb,
)
from apps.pages.changes.parameters import Line, at_most, parameter
from apps.pages.changes.read import Read, reads

ROUTE: Final = "switches"


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchResource:
    """A part of the server that can be switched off, as every machine form names it.

    Attributes:
        label: Its name for people.
        off: Whether it is switched off.
        sentence: What people read while it is off.
        stops: What does not work while it is off.
        changed_at: When it was last switched; null for never.
        changed_by: Who switched it.
    """

    name: str
    label: str
    off: bool
    sentence: str
    stops: str
    changed_at: datetime | None
    changed_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchList:
    """All switches."""

    switches: list[SwitchResource]


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchOff:
    """How a part of the server is switched off.

    Attributes:
        sentence: What people read while it is off; the usual sentence without it.
    """

    sentence: str = parameter(
        "",
        "--sentence",
        type=at_most(MAX_SENTENCE),
        metavar="TEXT",
        help="what people read meanwhile, such as when it will be on again",
        line=Line(label="What people read meanwhile", most=MAX_SENTENCE),
    )


def switch_list() -> SwitchList:
    """Return all switches."""
    return SwitchList(switches=list(switch_resources(SWITCHES.values())))


def switch_resource(kind: SwitchKind) -> SwitchResource:
    """Return one switch as machine forms name it."""
    return next(iter(switch_resources([kind])))


def switch_resources(kinds: Iterable[SwitchKind]) -> Iterable[SwitchResource]:
    """Yield switches as machine forms name them."""
    rows = {row.name: row for row in Switch.objects.all()}
    for kind in kinds:
        row = rows.get(kind.name)
        yield SwitchResource(
            name=kind.name,
            label=kind.label,
            off=row is not None and row.is_off,
            sentence=(row.sentence if row else "") or kind.sentence,
            stops=kind.stops,
            changed_at=row.changed_at if row else None,
            changed_by=row.changed_by if row else "",
        )


def switch_off(kind: SwitchKind, asked: SwitchOff, stamp: Stamp) -> SwitchResource:
    """Switch a part of the server off."""
    turn([kind.name], is_off=True, sentence=asked.sentence.strip(), stamp=stamp)
    return switch_resource(kind)


def switch_on(kind: SwitchKind, _: Nothing, stamp: Stamp) -> SwitchResource:
    """Switch a part of the server on again."""
    turn([kind.name], is_off=False, stamp=stamp)
    return switch_resource(kind)


def _said(one: SwitchResource) -> str:
    if one.off:
        return f"{one.label}: off. People read: {one.sentence}"
    return f"{one.label}: on."


def _page(name: str) -> Page:
    return Page(
        f"admin-area/switches/<str:name>/{name}",
        back=lambda _: resolve_url("operate:switch-list"),
    )


SWITCH: Final = Subject(noun="switch", role=ADMIN, scope="admin", find=find_switch)
OFF: Final = Change(
    of=SWITCH,
    name="off",
    help="Switch a part of the server off.",
    more="It is effective in all processes within a few seconds.",
    parameters=SwitchOff,
    do=switch_off,
    result=SwitchResource,
    says=_said,
    record=("switch.off",),
    verb=Verb(),
    call=Call("POST", f"{ROUTE}/<str:name>/off", view="SwitchedOff", status=200),
    page=_page("off"),
)
ON: Final = Change(
    of=SWITCH,
    name="on",
    help="Switch a part of the server on again.",
    parameters=Nothing,
    do=switch_on,
    result=SwitchResource,
    says=_said,
    verb=Verb(),
    record=("switch.on",),
    call=Call("DELETE", f"{ROUTE}/<str:name>/off", view="SwitchedOff"),
    page=(
        _page("on"),
        Page(
            "admin-area/restored/<str:name>/on",
            back=lambda _: resolve_url("operate:restored"),
            name="restored-on",
        ),
    ),
)
reads.register(
    Read(
        route=ROUTE,
        view="SwitchList",
        page="operate:switch-list",
        shows=SwitchList,
        help="List the parts of the server that can be switched off.",
        role=ADMIN,
        scope="admin",
    ),
)
