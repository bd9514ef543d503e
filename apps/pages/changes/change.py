"""A change that an administrator makes, declared once.

    HOLD = changes.register(
        Change(
            noun="recipient",
            name="hold",
            help="Keep versions of a shared table readable for a recipient.",
            role=ADMIN,
            scope="share",
            find=held_table,      # (names in an address) -> the subject
            parameters=NewHold,   # a frozen dataclass; see `parameters`
            do=hold_versions,     # (subject, parameters, stamp) -> the result
            result=HoldResource,  # a frozen dataclass; see `apps.pages.page_json`
            says=hold_text,       # the result -> a sentence
            action="hold.add",
            about=on_held,        # the subject -> the columns of the audit record
            call=Call("PUT", "recipients/<str:name>/holds/<str:share>/<str:table>"),
            page=Page("recipients/<str:name>/hold", back=recipient_of),
        )
    )

`html`, `command` and `apps.api.changes` make its form, its command and its endpoint.
An app names the modules of its changes in `AppConfig.ready`, by `changes.load_from`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from threading import RLock
from typing import Any, Final, Generic, TypeVar

from django.db import transaction

from apps.pages.actions import Action, FieldChange, Stamp, report, report_changes
from apps.pages.page_json import json_of

S = TypeVar("S")
P = TypeVar("P")
R = TypeVar("R")

VIEWER: Final = "VIEWER"
EDITOR: Final = "EDITOR"
ADMIN: Final = "ADMIN"
CALLER: Final = "caller"
"""A name that `find` may take: the user of a request. It is never sent."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """The parameters of a change that has none."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the REST API.

    Attributes:
        method: Such as `PUT`.
        route: Its path below the version of the API, as in `django.urls.path`. Its
            parts are the names that `Change.find` takes.
        view: The name of its address in OpenAPI, such as `Hold`. Calls and reads of
            one route have one.
        status: The status of the answer. 204 has no body.
        is_new: Whether a result was made by this call: the status is 201 then.
        location: Returns what `resolve_url` takes, by the result: its own address.
        answers: The dataclass of the answer, if it is not the result.
        shown: Returns the answer by the result.
    """

    method: str
    route: str
    view: str
    status: int = 200
    is_new: Callable[[Any], bool] | None = None
    location: Callable[[Any], str] | None = None
    answers: type | None = None
    shown: Callable[[Any], object] = lambda result: result


@dataclass(frozen=True, slots=True)
class Page:
    """The address that a form or a button of a page sends to.

    Attributes:
        route: As in `django.urls.path`. Names that `Change.find` takes and the route
            does not have are fields of the form.
        back: Returns what `redirect` takes, by the subject: the page that is shown
            afterwards.
        name: The URL name; `<noun>-<name>` of the change without one.
        find: Finds the subject instead of `Change.find`, where the address has other
            names for it, such as an id.
        needs_session: Whether a request with an API key is refused. A stolen key must
            not lead to a password or to more keys.
    """

    route: str
    back: Callable[[Any], Any]
    name: str = ""
    find: Callable[..., Any] | None = None
    needs_session: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Generic[S, P, R]):
    """A change, from which its form, command, endpoint and audit record are made.

    Attributes:
        noun: The command that has it as a verb, such as `recipient`; "" for none.
        name: The verb.
        flag: The option by which the verb makes this change instead of the change
            without a flag, such as `--end`.
        is_verb: Whether the command has it.
        help: What it does, in a sentence that begins with a verb.
        more: Further sentences for the description of the REST API.
        role: The role that a user needs at least.
        scope: The scope that an API key needs.
        find: Takes names as keyword arguments, in the order of the command line, and
            returns the subject. That of a user's own things takes `CALLER` as well.
        metavars: How the command line calls these names, if not by their own. One
            that begins with `--` is an option, which must be given.
        parameters: A frozen dataclass of JSON values.
        at_terminal: A subclass of it with values that the command alone takes.
        do: Makes the change, in a transaction of the frame.
        is_atomic: False if `do` waits for a server, and begins its transaction later.
        result: The dataclass that `do` returns.
        says: Returns the result in a sentence.
        kept: Of a result with a secret, which is shown once: returns what may be kept,
            for the audit record and for a call that is repeated. None for a result
            that has no secret.
        lines: Returns more lines of it for a terminal.
        warns: Returns the warnings of the command, by the subject and the result.
        action: The name of the audit record.
        fields: For an update that has one record for each field: the names of the
            records, by the keys of `facts`.
        facts: For an update, the values that are compared before and after it.
        writes: The names of the records that `do` writes itself, because several
            changes have them in common.
        about: Returns the columns of the audit record that name the subject. It is
            called before the change, so that a deleted subject is named.
        about_result: Returns those that only the result has.
        is_done: Whether the result changed anything. Nothing is recorded if not.
        question: Returns what is asked at a terminal first; None if nothing.
        confirm: Returns what has to be typed in the form first; None if nothing.
        call: None where the REST API does not have it.
        page: None where no page has it.
        also: Further pages, each of whose forms has some of the parameters.
    """

    noun: str
    name: str
    flag: str = ""
    is_verb: bool = True
    help: str
    more: str = ""
    role: str
    scope: str
    find: Callable[..., S]
    metavars: Mapping[str, str] = field(default_factory=dict)
    parameters: type[P]
    at_terminal: type[P] | None = None
    do: Callable[[S, P, Stamp], R]
    is_atomic: bool = True
    result: type[R]
    says: Callable[[R], str]
    kept: Callable[[R], Mapping[str, str] | None] | None = None
    lines: Callable[[R], Iterator[str]] = lambda _: iter(())
    warns: Callable[[S, R], Iterable[str]] | None = None
    action: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    facts: Callable[[S], Mapping[str, object]] = lambda _: {}
    writes: tuple[str, ...] = ()
    about: Callable[[S], Mapping[str, Any]] = lambda _: {}
    about_result: Callable[[R], Mapping[str, Any]] = lambda _: {}
    is_done: Callable[[R], bool] = lambda _: True
    question: Callable[[S, P], str] | None = None
    confirm: Callable[[S], str] | None = None
    call: Call | None = None
    page: Page | None = None
    also: tuple[Page, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a change without an audit record, or a verb that needs a user."""
        message = ""
        if not (self.action or self.fields or self.writes):
            message = "has no audit record"
        elif self.is_verb and CALLER in signature(self.find).parameters:
            message = "is a verb, but a command has no user"
        if message:
            message = f"{self.noun} {self.name} {message}"
            raise ValueError(message)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that `find` takes, in the order of the command line."""
        return names_of(self.find)

    @property
    def of_command(self) -> type[P]:
        """The parameters that the command takes."""
        return self.at_terminal or self.parameters

    @property
    def records(self) -> frozenset[str]:
        """The names of all audit records that it may write."""
        own = {self.action} if self.action else set()
        return frozenset({*own, *self.fields.values(), *self.writes})

    @property
    def pages(self) -> dict[str, Page]:
        """Its pages, by their URL names."""
        found = (*([self.page] if self.page else []), *self.also)
        return {one.name or f"{self.noun}-{self.name}": one for one in found}

    def carry_out(self, subject: S, parameters: P, stamp: Stamp) -> R:
        """Make the change and record it, in one transaction."""
        with transaction.atomic() if self.is_atomic else nullcontext():
            about = dict(self.about(subject))
            before = self.facts(subject)
            result = self.do(subject, parameters, stamp)
            about |= self.about_result(result)
            if self.action and self.is_done(result):
                kept = self.kept
                detail = (kept and kept(result)) or _detail(result, self.names)
                report(Action(name=self.action, stamp=stamp, detail=detail, **about))
            if self.fields:
                after = self.facts(subject)
                changed = [
                    FieldChange(name, before[key], after[key])
                    for key, name in self.fields.items()
                ]
                report_changes(Action(name="", stamp=stamp, **about), changed)
        return result


def names_of(find: Callable[..., object]) -> tuple[str, ...]:
    """Return the names that a `find` takes of what was sent."""
    return tuple(one for one in signature(find).parameters if one != CALLER)


def found_by(find: Callable[..., S], caller: object, names: Mapping[str, object]) -> S:
    """Return the subject of a request by its user and the names that were sent."""
    taken = {CALLER: caller} if CALLER in signature(find).parameters else {}
    return find(**{**names, **taken})


def _detail(result: object, names: tuple[str, ...]) -> dict[str, object]:
    """Return what a record keeps of a result: all but the names of the subject."""
    found = json_of(result)
    if not isinstance(found, dict):
        return {}
    return {
        key: one.isoformat() if hasattr(one, "isoformat") else one
        for key, one in found.items()
        if key not in names
    }


class Changes:
    """All changes. Their modules are imported when a process first needs them."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], Change[Any, Any, Any]] = {}
        self._to_load: dict[str, list[str]] = {}
        self._lock = RLock()

    def load_from(self, noun: str, *modules: str) -> None:
        """Say which modules register the changes of a noun."""
        with self._lock:
            self._to_load.setdefault(noun, []).extend(modules)

    def register(self, change: Change[S, P, R]) -> Change[S, P, R]:
        """Add a change, and return it."""
        self._found[change.noun, change.name, change.flag] = change
        return change

    def remove(self, change: Change[Any, Any, Any]) -> None:
        """Take a change out."""
        self._found.pop((change.noun, change.name, change.flag), None)

    def of(self, noun: str) -> list[Change[Any, Any, Any]]:
        """Return the changes of a noun."""
        with self._lock:  # another thread would see some of them only
            for module in self._to_load.pop(noun, ()):
                import_module(module)
        return [one for one in self._found.values() if one.noun == noun]

    def __iter__(self) -> Iterator[Change[Any, Any, Any]]:
        for noun in list(self._to_load):
            self.of(noun)
        return iter(list(self._found.values()))


changes: Final = Changes()
