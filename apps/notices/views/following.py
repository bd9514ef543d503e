"""The page of what a person follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django import forms
from django.contrib import messages
from django.db.models import Max
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.permissions import signed_in
from apps.notices.changes.follows import SCHEMA, own_follow
from apps.notices.events.kind import EventKind
from apps.notices.following.counting import CountedNotices, count_of
from apps.notices.following.resource import Following, FollowResource, follow_resource
from apps.notices.following.subjects import followed_subjects, subjects_of
from apps.notices.models import Follow, Notice, Webhook
from apps.pages.changes.forms import sentences_of
from apps.pages.request.changes import ChangeForm, CheckBoxesField
from apps.pages.request.parameters import cleaned
from apps.pages.responses import respond


class FollowingForm(forms.Form):
    """The parameters of the page."""

    q = forms.CharField(max_length=200, required=False)
    breaking = forms.BooleanField(required=False)
    change = forms.IntegerField(min_value=1, required=False)
    subject = forms.CharField(max_length=32, required=False)
    name = forms.CharField(max_length=500, required=False)
    new = forms.BooleanField(required=False)


class ChoicesForm(forms.Form):
    """Choices of which the notifications are counted."""

    kinds = CheckBoxesField(required=False)
    breaking_only = forms.BooleanField(required=False)

    def __init__(self, *args: object, known: Sequence[str], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # passed on as it came
        self.fields["kinds"].choices = [(one, one) for one in known]  # type: ignore[attr-defined]  # of its class


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An event in the table: chosen, not chosen, or one that cannot happen (None)."""

    kind: EventKind
    is_chosen: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedRow:
    """A line of the page.

    Attributes:
        last_at: When the last notification of the subject came.
    """

    follow: Follow
    icon: str
    words: str
    name: str
    url: str
    choices: Sequence[Choice]
    webhooks: Sequence[Webhook]
    last_at: datetime | None

    @property
    def can_choose(self) -> list[Choice]:
        """The events that can happen to the subject."""
        return [one for one in self.choices if one.is_chosen is not None]


def following(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List what the person who asks follows."""
    return _page(request, fmt)


def refused(request: HttpRequest, found: object, form: ChangeForm) -> HttpResponseBase:
    """Show the page, and why a change was refused."""
    opened = found.pk if isinstance(found, Follow) else None
    return _page(request, "html", form=form, opened=opened)


def count(request: HttpRequest, follow_id: int) -> HttpResponseBase:
    """Say how many notifications choices would have sent in 30 days."""
    follow = own_follow(signed_in(request), follow_id)
    known = [one.name for one in subjects_of(follow.subject_kind).kinds()]
    chosen = cleaned(ChoicesForm(request.GET, known=known))
    follow.kinds = chosen["kinds"]
    follow.breaking_only = chosen["breaking_only"]
    counted = count_of(follow, now=timezone.now())
    return render(request, "notices/_count.html", {"counted": counted})


def _page(
    request: HttpRequest,
    fmt: str,
    *,
    form: ChangeForm | None = None,
    opened: int | None = None,
) -> HttpResponseBase:
    user = signed_in(request)
    asked = cleaned(FollowingForm(request.GET)) if form is None else {}
    follows = list(
        user.follows.prefetch_related("webhooks").order_by("subject_name", "id")
    )
    data = Following(follows=[_resource(one, user) for one in follows])
    if fmt != "html":
        return respond(request, fmt, template="", context={}, data=data)
    kinds = _columns(follows)
    rows = _rows(user, follows, kinds)
    opened = opened or asked.get("change") or _followed(follows, asked)
    shown = [one for one in rows if _matches(one, asked) or one.follow.pk == opened]
    counted = _counted(follows, opened)
    return respond(
        request,
        fmt,
        template="notices/following.html",
        context={
            "tab": "following",
            "rows": shown,
            "num_followed": len(follows),
            "num_webhooks": user.webhooks.count(),
            "kinds": kinds,
            "opened": opened,
            "counted": counted,
            "asked": asked,
            "is_new": bool(asked.get("new") or asked.get("subject")),
            "subjects": [one for one in followed_subjects() if one.kind != "owned"],
            "webhooks": list(user.webhooks.order_by("created_at")),
            "often": Follow.Often.choices,
            "errors": sentences_of(form) if form else [],
        },
        data=None,
        status=form.status if form else 200,
    )


def _resource(follow: Follow, user: User) -> FollowResource:
    follow.user = user
    return follow_resource(follow)


def _columns(follows: Sequence[Follow]) -> list[EventKind]:
    """Return the kinds that can happen to something that is followed."""
    found: dict[str, EventKind] = {}
    for one in {follow.subject_kind for follow in follows}:
        found.update((kind.name, kind) for kind in subjects_of(one).kinds())
    return sorted(found.values(), key=lambda kind: (kind.about != "table", kind.name))


def _rows(
    user: User, follows: Sequence[Follow], kinds: Sequence[EventKind]
) -> list[FollowedRow]:
    names: dict[tuple[str, str], tuple[str, str]] = {}
    for each in followed_subjects():
        ids = [one.subject_id for one in follows if one.subject_kind == each.kind]
        found: Mapping[str, tuple[str, str]] = each.named(ids) if ids else {}
        names.update(((each.kind, key), value) for key, value in found.items())
    last = dict(
        Notice.objects.filter(user=user)
        .order_by()
        .values_list("event__subject_name")
        .annotate(Max("event__at"))
    )
    return [_row(one, names, kinds, last) for one in follows]


def _row(
    follow: Follow,
    names: Mapping[tuple[str, str], tuple[str, str]],
    kinds: Sequence[EventKind],
    last: Mapping[str, datetime],
) -> FollowedRow:
    subjects = subjects_of(follow.subject_kind)
    heard = {one.name for one in subjects.kinds()}
    name, url = names.get(
        (follow.subject_kind, follow.subject_id), (follow.subject_name, "")
    )
    return FollowedRow(
        follow=follow,
        icon=subjects.icon,
        words=subjects.words,
        name=name,
        url=url,
        choices=[
            Choice(
                kind=kind,
                is_chosen=kind.name in follow.kinds if kind.name in heard else None,
            )
            for kind in kinds
        ],
        webhooks=list(follow.webhooks.all()),
        last_at=last.get(name),
    )


def _matches(row: FollowedRow, asked: Mapping[str, object]) -> bool:
    text = str(asked.get("q") or "").casefold()
    is_breaking = SCHEMA in row.follow.kinds and row.follow.breaking_only
    return text in row.name.casefold() and (not asked.get("breaking") or is_breaking)


def _followed(follows: Sequence[Follow], asked: Mapping[str, object]) -> int | None:
    """Return what a *Follow* button names, if it is followed already."""
    for one in follows:
        if (one.subject_kind, one.subject_name) == (
            asked.get("subject"),
            asked.get("name"),
        ):
            return one.pk
    return None


def _counted(follows: Sequence[Follow], opened: int | None) -> CountedNotices | None:
    for one in follows:
        if one.pk == opened:
            return count_of(one, now=timezone.now())
    return None


def began(request: HttpRequest, _: User, result: FollowResource) -> HttpResponseBase:
    """Show what is followed now, with its choices open."""
    messages.success(request, f"You follow {result.name}.")
    return redirect(f"{request.path}/?change={result.id}")
