"""A change that an administrator makes, declared once.

    HELD = Subject(
        noun="recipient",
        role=ADMIN,
        scope="share",
        find=held_table,      # (names in an address) -> the subject
        about=on_held,        # the subject -> the columns of the audit record
    )
    HOLD = Change(
        of=HELD,
        name="hold",
        help="Keep versions of a shared table readable for a recipient.",
        parameters=NewHold,   # a frozen dataclass; see `parameters`
        do=hold_versions,     # (subject, parameters, stamp) -> the result
        result=HoldResource,  # a frozen dataclass; see `apps.pages.page_json`
        says=hold_text,       # the result -> a sentence
        record=Record("hold.add"),
        verb=Verb(),
        call=Call("PUT", "recipients/<str:name>/holds/<str:share>/<str:table>"),
        page=Page("recipients/<str:name>/hold", back=recipient_of),
    )

`html`, `command` and `apps.api.changes` make its form, its command and its endpoint.
An app names the modules of its changes in `AppConfig.ready`, by `changes.load_from`.
Each `Change` that such a module has a name for is registered.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from importlib import import_module
from inspect import signature
from threading import RLock
from typing import Any, Final, Generic, TypeAlias, TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import Model

from apps.pages.actions import (
    Action,
    FieldChange,
    Stamp,
    check_allowed,
    report,
    report_changes,
)
from apps.pages.errors import ChangedMeanwhileError
from apps.pages.page_json import json_of
from apps.pages.request.parameters import Takes

S = TypeVar("S")
P = TypeVar("P")
R = TypeVar("R")

VIEWER: Final = "VIEWER"
EDITOR: Final = "EDITOR"
ADMIN: Final = "ADMIN"
USUAL_STATUS: Final = {"POST": 201, "DELETE": 204}
REFUSED: Final = (IntegrityError, DatabaseError)
"""Of a rule that another request met first, and, by Django, of a row that is gone."""
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
            parts are the names that `find` takes.
        view: The name of its address in OpenAPI, such as `Hold`. Calls and reads of
            one route have one.
        status: The status of the answer, if it is not the usual one of its method.
        is_new: Whether a result was made by this call: the status is 201 then.
        location: Returns what `resolve_url` takes, by the result: its own address.
        answers: The dataclass of the answer, if it is not the result; by status if
            these differ.
        shown: Returns the answer by the result.
        find: Finds the subject instead of `Subject.find`, where the path has other
            names for it than the command line, or not everybody may see it.
    """

    method: str
    route: str
    view: str
    status: int = 0
    is_new: Callable[[Any], bool] | None = None
    location: Callable[[Any], str] | None = None
    answers: type | Mapping[int, type] | None = None
    shown: Callable[[Any], object] = lambda result: result
    find: Callable[..., Any] | None = None

    @property
    def status_of_answer(self) -> int:
        """The status of the answer. 204 has no body."""
        return self.status or USUAL_STATUS.get(self.method, 200)


@dataclass(frozen=True, slots=True)
class Page:
    """The address that a form or a button of a page sends to.

    Attributes:
        route: As in `django.urls.path`. Names that `Subject.find` takes and the route
            does not have are fields of the form.
        back: Returns what `redirect` takes, by the subject: the page that is shown
            afterwards, also if the change was refused.
        then: Returns what `redirect` takes, by the result, if the page that is shown
            after the change is another one, such as that of a new thing.
        name: The URL name; `<noun>-<name>` of the change without one.
        find: Finds the subject instead of `Subject.find`, where the address has other
            names for it, such as an id.
        needs_session: Whether a request with an API key is refused. A stolen key must
            not lead to a password or to more keys.
        confirm: Returns what has to be sent as `confirm` first, by the subject; "" for
            nothing.
        repeated: What is said if a form is sent a second time that is done once, such
            as that of a secret. Its page has a hidden field `once` (see `once`).
        takes: What the address takes, if the page with the form has the same one.
    """

    route: str
    back: Callable[[Any], Any]
    then: Callable[[Any], Any] | None = None
    name: str = ""
    find: Callable[..., Any] | None = None
    needs_session: bool = False
    confirm: Callable[[Any], str] = lambda _: ""
    repeated: str = ""
    takes: Takes = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject(Generic[S]):
    """What changes have in common: what they change, and who may.

    Attributes:
        noun: The command that has their verbs, such as `recipient`.
        role: The role that a user needs at least.
        scope: The scope that an API key needs.
        find: Takes names as keyword arguments, in the order of the command line, and
            returns the subject. That of a user's own things takes `CALLER` as well.
        metavars: How the command line calls these names, if not by their own. One
            that begins with `--` is an option, which must be given.
        may: Refuses a user who may not change a subject that `find` returned. Where a
            right on the subject decides, `role` is `VIEWER`. Commands have no user.
        about: Returns the columns of the audit record that name the subject. It is
            called before the change, so that a deleted subject is named.
    """

    noun: str
    role: str
    scope: str
    find: Callable[..., S]
    may: Callable[[Any, S], None] = lambda _user, _subject: None
    metavars: Mapping[str, str] = field(default_factory=dict)
    about: Callable[[S], Mapping[str, Any]] = lambda _: {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names that `find` takes, in the order of the command line."""
        return names_of(self.find)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb(Generic[S, P, R]):
    """A change as a verb of the command of its noun.

    Attributes:
        flag: The option by which the verb makes this change instead of the change
            without a flag, such as `--end`.
        question: Returns what is asked first; None if nothing.
        warns: Returns warnings, by the subject and the result.
        at_terminal: A subclass of the parameters with values that only it takes.
        would: Returns what `--dry-run` answers, by the result: a dataclass, and a
            sentence. The change is made for that and rolled back, so it must be atomic
            and must do outside of the database only what waits for the commit. None
            if the verb does not take the option.
    """

    flag: str = ""
    question: Callable[[S, P], str] | None = None
    warns: Callable[[S, R], Iterable[str]] | None = None
    at_terminal: type[Any] | None = None
    would: Callable[[R], tuple[object, str]] | None = None


@dataclass(frozen=True, slots=True)
class Record(Generic[S]):
    """The audit records of a change.

    Attributes:
        name: The name of one record that has the result; "" for none.
        fields: For an update that has one record for each field that it changed: the
            names of the records, by the keys of `facts`.
        facts: Returns the values that are compared before and after the update.
        writes: The names of the records that `do` writes itself, because several
            changes have them in common.
    """

    name: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    facts: Callable[[S], Mapping[str, object]] = lambda _: {}
    writes: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names of all records that may be written."""
        own = {self.name} if self.name else set()
        return frozenset({*own, *self.fields.values(), *self.writes})


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Generic[S, P, R]):
    """A change, from which its form, command, endpoint and audit record are made.

    Attributes:
        of: What is changed, and who may change it.
        name: Its name, which is unique among the changes of a noun but for a flag.
        help: What it does, in a sentence that begins with a verb.
        more: Further sentences for the description of the REST API.
        parameters: A frozen dataclass of JSON values.
        do: Makes the change, in a transaction of the frame.
        is_atomic: False if `do` waits for a server, and begins its transaction later.
        result: The dataclass that `do` returns.
        says: Returns the result in a sentence.
        kept: Of a result with a secret, which is shown once: returns what may be kept,
            for the audit record and for a call that is repeated. None for a result
            that has no secret.
        record: Its audit records. Names alone are those that `do` writes.
        verb: None where no command has it.
        call: None where the REST API does not have it.
        page: Its page, or its pages, each of whose forms has some of the parameters.
    """

    of: Subject[S]
    name: str
    help: str
    more: str = ""
    parameters: type[P]
    do: Callable[[S, P, Stamp], R]
    is_atomic: bool = True
    result: type[R]
    says: Callable[[R], str]
    kept: Callable[[R], Mapping[str, str] | None] | None = None
    record: Record[S] | tuple[str, ...]
    verb: Verb[S, P, R] | None = None
    call: Call | None = None
    page: Page | tuple[Page, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a change without an audit record, or a verb that needs a user."""
        message = ""
        if not self.records.names:
            message = "has no audit record"
        elif self.verb is not None and CALLER in signature(self.of.find).parameters:
            message = "is a verb, but a command has no user"
        elif self.verb is not None and self.verb.would and not self.is_atomic:
            message = "cannot be rolled back, so it has no dry run"
        if message:
            message = f"{self.of.noun} {self.name} {message}"
            raise ValueError(message)

    @property
    def key(self) -> tuple[str, str, str]:
        """Its noun, its name and its flag."""
        return self.of.noun, self.name, self.verb.flag if self.verb else ""

    @property
    def of_command(self) -> type[P]:
        """The parameters that the command takes."""
        return (self.verb and self.verb.at_terminal) or self.parameters

    @property
    def records(self) -> Record[S]:
        """Its audit records."""
        record = self.record
        return record if isinstance(record, Record) else Record(writes=record)

    @property
    def pages(self) -> dict[str, Page]:
        """Its pages, by their URL names."""
        found = (self.page,) if isinstance(self.page, Page) else self.page
        return {one.name or f"{self.of.noun}-{self.name}": one for one in found}

    def carry_out(self, subject: S, parameters: P, stamp: Stamp) -> R:
        """Make the change and record it, in one transaction.

        Raises:
            ChangedMeanwhileError: If another request was first.
        """
        try:
            with transaction.atomic() if self.is_atomic else nullcontext():
                if self.is_atomic:
                    locked(subject)
                return self._made(subject, parameters, stamp)
        except DatabaseError as error:
            if type(error) not in REFUSED:
                raise
            raise ChangedMeanwhileError from error

    def _made(self, subject: S, parameters: P, stamp: Stamp) -> R:
        """Make the change and record it."""
        record = self.records
        for name in record.names:
            check_allowed(name)
        about = self.of.about(subject)
        before = record.facts(subject)
        result = self.do(subject, parameters, stamp)
        if record.name:
            kept = self.kept
            detail = (kept and kept(result)) or _detail(result, self.of.names)
            report(Action(name=record.name, stamp=stamp, detail=detail, **about))
        if record.fields:
            after = record.facts(subject)
            changed = [
                FieldChange(name, before[key], after[key])
                for key, name in record.fields.items()
            ]
            report_changes(Action(name="", stamp=stamp, **about), changed)
        return result


AnyChange: TypeAlias = Change[Any, Any, Any]


def names_of(find: Callable[..., object]) -> tuple[str, ...]:
    """Return the names that a `find` takes of what was sent."""
    return tuple(one for one in signature(find).parameters if one != CALLER)


def found_by(find: Callable[..., S], caller: object, names: Mapping[str, object]) -> S:
    """Return the subject of a request by its user and the names that were sent."""
    taken = {CALLER: caller} if CALLER in signature(find).parameters else {}
    return find(**{**names, **taken})


def locked(subject: S) -> S:
    """Lock the rows of a subject, and read them again.

    It was found before the transaction: another request may have changed it since.

    Raises:
        ChangedMeanwhileError: If it is gone.
    """
    for one in subject if isinstance(subject, tuple) else (subject,):
        if isinstance(one, Model):
            every = one.__class__._base_manager  # noqa: SLF001 (Django documents it)
            rows = every.select_for_update(no_key=True)
            try:
                one.refresh_from_db(from_queryset=rows)
            except ObjectDoesNotExist as error:
                raise ChangedMeanwhileError from error
    return subject


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


def opposite(  # noqa: PLR0913 (what differs from the change)
    change: AnyChange,
    do: Callable[..., object],
    *,
    help: str,  # noqa: A002 (as `Change` has it)
    more: str = "",
    record: str,
    flag: str = "--off",
) -> AnyChange:
    """Return the change that turns a switch off: a flag, DELETE, and pages of its own.

    Args:
        change: The change that turns it on.
        do: Turns it off and returns the result, by the subject and the stamp.
        flag: The flag of its verb; it ends the addresses of its pages, too.
    """
    end = flag.removeprefix("-")
    return replace(
        change,
        help=help,
        more=more,
        parameters=Nothing,
        do=lambda subject, _, stamp: do(subject, stamp),
        record=Record(record),
        verb=Verb(flag=flag),
        call=change.call and replace(change.call, method="DELETE", status=0),
        page=tuple(
            replace(page, route=f"{page.route}{end}", name=f"{name}{end}")
            for name, page in change.pages.items()
        ),
    )


class Changes:
    """All changes. Their modules are imported when a process first needs them."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], AnyChange] = {}
        self._to_load: dict[str, list[str]] = {}
        self._lock = RLock()

    def load_from(self, noun: str, *modules: str) -> None:
        """Say which modules have the changes of a noun."""
        with self._lock:
            self._to_load.setdefault(noun, []).extend(modules)

    def register(self, change: Change[S, P, R]) -> Change[S, P, R]:
        """Add a change, and return it."""
        self._found[change.key] = change
        return change

    def remove(self, change: AnyChange) -> None:
        """Take a change out."""
        self._found.pop(change.key, None)

    def of(self, noun: str) -> list[AnyChange]:
        """Return the changes of a noun."""
        with self._lock:  # another thread would see some of them only
            for module in self._to_load.pop(noun, ()):
                for one in vars(import_module(module)).values():
                    if isinstance(one, Change):
                        self.register(one)
        return [one for one in self._found.values() if one.of.noun == noun]

    def __iter__(self) -> Iterator[AnyChange]:
        for noun in list(self._to_load):
            self.of(noun)
        return iter(list(self._found.values()))


changes: Final = Changes()
