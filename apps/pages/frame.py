"""What other apps add to the rail and to the first page, each when it is ready."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser

from apps.pages.registry import Registry

# === The rail ===


AnyUser: TypeAlias = AbstractBaseUser | AnonymousUser


@dataclass(frozen=True, slots=True, kw_only=True)
class NavEntry:
    """One place in the rail.

    `prefixes` are the paths under which the entry counts as the current place.
    """

    label: str
    icon: str
    url_name: str
    order: int
    prefixes: tuple[str, ...]
    visible: Callable[[AnyUser], bool] = lambda user: user.is_authenticated
    at_bottom: bool = False


entries: Registry[NavEntry] = Registry(key=lambda entry: entry.url_name)


def entries_for(user: AnyUser) -> list[NavEntry]:
    """Return the entries that `user` sees, in order."""
    seen = (entry for entry in entries if entry.visible(user))
    return sorted(seen, key=lambda entry: (entry.at_bottom, entry.order))


@dataclass(frozen=True, slots=True)
class Banner:
    """A sentence at the top of each page.

    Attributes:
        url_name: The page where something is to be done; "" for none.
        link: What the link to that page says.
    """

    sentence: str
    url_name: str = ""
    link: str = ""


BannerProvider: TypeAlias = Callable[[AnyUser], Iterable[Banner]]

banners: Registry[BannerProvider] = Registry()


def banners_for(user: AnyUser) -> list[Banner]:
    """Return the banners of `user`."""
    return [banner for provider in banners for banner in provider(user)]


# === The first page ===


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyNumber:
    """A number beside those of tables and jobs."""

    key: str
    label: str
    value: int
    note: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstStep:
    """A step of the list that greets a new installation, after its first table."""

    title: str
    text: str
    button: str
    icon: str
    url_name: str
    visible: Callable[[AnyUser], bool] = lambda user: user.is_authenticated


# Returns a number for what this user may know, or None.
NumberProvider = Callable[[AnyUser, datetime], KeyNumber | None]

numbers: Registry[NumberProvider] = Registry()
steps: Registry[FirstStep] = Registry(key=lambda step: step.url_name)


def numbers_for(user: AnyUser, *, now: datetime) -> list[KeyNumber]:
    """Return the numbers that `user` may know."""
    found = (provider(user, now) for provider in numbers)
    return [number for number in found if number is not None]


def steps_for(user: AnyUser) -> list[FirstStep]:
    """Return the steps that `user` may take."""
    return [step for step in steps if step.visible(user)]


# === The help of each page ===


@dataclass(frozen=True, slots=True)
class PageHelp:
    """The how-to of a page.

    Attributes:
        url_name: The URL name of the page.
        place: The page of the manual, below its address: `how-to/compact/`.
    """

    url_name: str
    place: str


helps: Registry[PageHelp] = Registry(key=lambda one: one.url_name)


def explain(app: str, places: Mapping[str, str]) -> None:
    """Say which page of the manual explains which pages of an app.

    Args:
        app: The namespace of their URL names.
        places: By a place in the manual, the names of pages, with spaces between them.
    """
    helps.register(
        *(
            PageHelp(f"{app}:{name}", place)
            for place, names in places.items()
            for name in names.split()
        )
    )


def help_of(url_name: str) -> str:
    """Return the place in the manual that explains a page; "" without one."""
    return next((one.place for one in helps if one.url_name == url_name), "")


# === The tour ===


@dataclass(frozen=True, slots=True)
class TourStep:
    """A question of the tour, and the page that answers it.

    Attributes:
        key: The anchor of the question in the manual, and the value of `?tour=`.
        page: The path of the page, below that of the site.
    """

    key: str
    question: str
    page: str


@dataclass(frozen=True, slots=True)
class TourPlace:
    """Where a reader of the tour is.

    Attributes:
        number: Of the step, from 1.
        next: The step after it; None at the end.
    """

    step: TourStep
    number: int
    total: int
    next: TourStep | None


tour: Registry[TourStep] = Registry(key=lambda step: step.key)


def tour_place(key: str) -> TourPlace | None:
    """Return where in the tour a page was opened; None if it was not."""
    steps = list(tour) if key else []
    for number, step in enumerate(steps, start=1):
        if step.key == key:
            after = steps[number] if number < len(steps) else None
            return TourPlace(step, number, len(steps), after)
    return None
