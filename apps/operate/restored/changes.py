"""The decisions of administrators after a restore: revoke, compare, and finish."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final

from django.shortcuts import resolve_url
from django.utils import timezone

from apps.operate.errors import NotRestoredError, RevivalUnknownError
from apps.operate.loading import load
from apps.operate.models import Restoration
from apps.operate.restored.comparing import (
    MAX_LENGTH,
    CameBack,
    Comparison,
    compare_lines,
    read_changes,
)
from apps.operate.restored.revivals import Revival, revivals
from apps.operate.switches.changes import switch_resource
from apps.operate.switches.state import OFF_AFTER_RESTORE, SWITCHES, decide_all
from apps.pages.actions import Action, Stamp, report
from apps.pages.changes.change import ADMIN, Call, Change, Nothing, Page, Subject, Verb
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from deltaweb.words import counted

ROUTE: Final = "restored"
PAGE: Final = "admin-area/restored"


@dataclass(frozen=True, slots=True, kw_only=True)
class RevivedThings:
    """Things of one kind that the backup brought back.

    Attributes:
        count: How many there are at present.
        says: What they do, in a sentence.
        can_revoke: Whether all of them can be ended at once.
    """

    name: str
    count: int
    says: str
    can_revoke: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredPart:
    """A part of the server that the restore switched off.

    Attributes:
        switch: The name of its switch.
        off: Whether it is still off.
        revived: What works again once it is switched on.
    """

    switch: str
    label: str
    off: bool
    revived: list[RevivedThings]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestorationResource:
    """The newest restore, and what is to be decided after it.

    Attributes:
        restored_at: When the backup was restored.
        made_at: When the backup was made.
        made_by: The version of deltaweb that made it.
        decided_at: When the last decision was made; null while some are open.
        decided_by: Who made it.
        num_jobs: The jobs that were active and are cancelled.
        num_links: The one-time links that are no longer valid.
        unreadable_storages: Storage connections whose credentials no key opens.
        parts: What the restore switched off.
        at_once: What works again without a switch.
        compared: The comparison with an audit record; null if none was compared.
    """

    restored_at: datetime
    made_at: datetime
    made_by: str
    decided_at: datetime | None
    decided_by: str
    num_jobs: int
    num_links: int
    unreadable_storages: list[str]
    parts: list[RestoredPart]
    at_once: list[RevivedThings]
    compared: Comparison | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredPage:
    """The decisions after the newest restore.

    Attributes:
        restoration: Null for a database that was not restored from a backup.
    """

    restoration: RestorationResource | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatToRevoke:
    """The kinds of things to revoke after a restore.

    Attributes:
        what: Names such as `tokens`; without any, tokens and API keys.
    """

    what: list[str] = parameter(
        list,
        "--only",
        action="append",
        metavar="NAME",
        help="only this, such as tokens; it can be repeated",
        line=Line(label="What is revoked", is_boxes=True),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokedThings:
    """The number of things of one kind that were revoked."""

    name: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokedAfterRestore:
    """The things that were revoked, by their kinds."""

    revoked: list[RevokedThings]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLines:
    """Lines of the audit record that were kept outside of the database.

    Attributes:
        lines: JSON lines, as DELTAWEB_AUDIT_LOG writes them.
    """

    lines: str = parameter(
        "",
        reads=read_changes,
        metavar="FILE",
        help="a file of JSON lines that DELTAWEB_AUDIT_LOG has written",
        line=Line(label="Lines of the audit record", most=MAX_LENGTH),
    )


# === Reading ===


def newest_restoration() -> Restoration:
    """Return the restore by which this database began.

    Raises:
        NotRestoredError: If there was none.
    """
    found = Restoration.objects.first()
    if found is None:
        raise NotRestoredError
    return found


def restored_page(now: datetime) -> RestoredPage:
    """Return what is to be decided after the newest restore."""
    found = Restoration.objects.first()
    resource = None if found is None else restoration_resource(found, now)
    return RestoredPage(restoration=resource)


def restoration_resource(one: Restoration, now: datetime) -> RestorationResource:
    """Return a restore and what it revives at present."""
    load()
    revived: dict[str, list[RevivedThings]] = {}
    for kind in revivals:
        count, says = kind.look(one.restored_at, now)
        if count:
            things = RevivedThings(
                name=kind.name,
                count=count,
                says=says,
                can_revoke=kind.revoke is not None,
            )
            revived.setdefault(kind.switch, []).append(things)
    return RestorationResource(
        restored_at=one.restored_at,
        made_at=one.made_at,
        made_by=one.made_by,
        decided_at=one.decided_at,
        decided_by=one.decided_by,
        num_jobs=one.decisions.get("jobs", 0),
        num_links=one.decisions.get("links", 0),
        unreadable_storages=one.decisions.get("unreadable", []),
        parts=[
            RestoredPart(
                switch=name,
                label=SWITCHES[name].label,
                off=switch_resource(SWITCHES[name]).off,
                revived=revived.get(name, []),
            )
            for name in OFF_AFTER_RESTORE
        ],
        at_once=revived.get("", []),
        compared=_comparison(one.compared),
    )


def _comparison(stored: dict[str, object] | None) -> Comparison | None:
    if stored is None:
        return None
    rows = [CameBack(**row) for row in stored["came_back"]]  # type: ignore[attr-defined]  # of `compare`
    return Comparison(**{**stored, "came_back": rows})  # type: ignore[arg-type]  # as above


def decision_lines(found: RestorationResource) -> Iterator[str]:
    """Yield what an administrator has to decide, line by line."""
    if found.decided_at is None:
        yield "Decide this before you switch sharing, sign-in and notifications on:"
    else:
        at = f"{found.decided_at:%Y-%m-%d %H:%M}"
        yield f"All was decided at {at} UTC by {found.decided_by}."
    for part in found.parts:
        yield f"- {part.label}: {'off' if part.off else 'on'}."
        for one in part.revived:
            end = f" To end this: deltaweb restored revoke --only {one.name}"
            yield f"  - {one.says}{end if one.can_revoke else ''}"
    for one in found.at_once:
        yield f"- {one.says}"
    yield (
        f"- {counted(found.num_jobs, 'active job')} and"
        f" {counted(found.num_links, 'one-time link')} were cancelled."
    )
    for name in found.unreadable_storages:
        yield f"- The credentials of the storage {name!r} cannot be read: set them."
    if found.compared is not None:
        yield f"- {compared_text(found.compared)}"
        for row in found.compared.came_back:
            yield f"  - {row.access} ({row.at}, {row.by})"
    if found.decided_at is None:
        yield "Then run 'deltaweb switch on sharing', and the same for the others."


# === Changing ===


def revoke(
    restoration: Restoration, asked: WhatToRevoke, stamp: Stamp
) -> RevokedAfterRestore:
    """End what was made before a restore and works again."""
    revoked = [
        RevokedThings(
            name=one.name, count=one.revoke(restoration.restored_at, stamp.at)
        )
        for one in _chosen(asked.what)
        if one.revoke is not None
    ]
    detail = {one.name: one.count for one in revoked}
    report(Action(name="server.revoke", stamp=stamp, detail=detail))
    return RevokedAfterRestore(revoked=revoked)


def _chosen(names: list[str]) -> list[Revival]:
    load()
    known = {one.name: one for one in revivals if one.revoke is not None}
    for name in names:
        if name not in known:
            raise RevivalUnknownError(name=name, known=", ".join(known))
    return [
        one
        for one in known.values()
        if one.name in names or (not names and one.is_usual)
    ]


def _revoke_question(restoration: Restoration, asked: WhatToRevoke) -> str:
    now = timezone.now()
    counts = {
        one.name: one.look(restoration.restored_at, now)[0]
        for one in _chosen(asked.what)
    }
    said = ", ".join(f"{count} {name}" for name, count in counts.items())
    return f"Revoke {said}?"


def _revoked_text(done: RevokedAfterRestore) -> str:
    said = ", ".join(f"{one.count} {one.name}" for one in done.revoked)
    return f"Revoked: {said}."


def compare(restoration: Restoration, asked: AuditLines, stamp: Stamp) -> Comparison:
    """Compare the restored database with an audit record, and keep what was found."""
    found = compare_lines(
        asked.lines,
        since=restoration.made_at,
        until=restoration.restored_at,
        now=stamp.at,
    )
    restoration.compared = asdict(found)
    restoration.save(update_fields=["compared"])
    detail = {"num_lines": found.num_lines, "num_back": found.num_back}
    report(Action(name="server.compare", stamp=stamp, detail=detail))
    return found


def compared_text(found: Comparison) -> str:
    """Return what a comparison found."""
    changes = counted(found.num_changes, "change")
    return (
        f"Of {counted(found.num_lines, 'line')}, {changes} are newer than the backup,"
        f" and {counted(found.num_back, 'withdrawn right')} came back."
    )


def finish(restoration: Restoration, _: Nothing, stamp: Stamp) -> RestorationResource:
    """End the decisions after a restore. Parts that are off stay off."""
    decide_all(stamp)
    restoration.refresh_from_db()
    report(Action(name="server.decide", stamp=stamp))
    return restoration_resource(restoration, stamp.at)


def _finished_text(done: RestorationResource) -> str:
    off = ", ".join(part.label for part in done.parts if part.off)
    return f"All is decided. Still off: {off}." if off else "All is decided."


def _page(name: str) -> Page:
    return Page(
        f"{PAGE}/{name}",
        back=lambda _: resolve_url("operate:restored"),
        name=f"restored-{name}",
    )


RESTORED: Final = Subject(
    noun="restored", role=ADMIN, scope="admin", find=newest_restoration
)
REVOKE: Final = Change(
    of=RESTORED,
    name="revoke",
    help="Revoke what was made before the restore and works again.",
    more="Without names, all tokens of recipients and all API keys.",
    parameters=WhatToRevoke,
    do=revoke,
    result=RevokedAfterRestore,
    says=_revoked_text,
    record=("server.revoke",),
    verb=Verb(question=_revoke_question),
    call=Call("POST", f"{ROUTE}/revoke", view="RestoredRevoked", status=200),
    page=_page("revoke"),
)
COMPARE: Final = Change(
    of=RESTORED,
    name="compare",
    help="Show which accesses that were taken away after the backup came back.",
    parameters=AuditLines,
    do=compare,
    result=Comparison,
    says=compared_text,
    record=("server.compare",),
    verb=Verb(),
    call=Call("POST", f"{ROUTE}/compare", view="RestoredCompared", status=200),
)
FINISH: Final = Change(
    of=RESTORED,
    name="finish",
    help="End the decisions after a restore; parts that are off stay off.",
    parameters=Nothing,
    do=finish,
    result=RestorationResource,
    says=_finished_text,
    record=("server.decide",),
    verb=Verb(),
    call=Call("POST", f"{ROUTE}/finish", view="RestoredFinished", status=200),
    page=_page("finish"),
)
reads.register(
    Read(
        route=ROUTE,
        view="Restored",
        page="operate:restored",
        shows=RestoredPage,
        help="Show what is to be decided after a restore.",
        role=ADMIN,
        scope="admin",
    ),
)
