"""The addresses that forms and buttons of changes send to, by POST."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import URLPattern

from apps.pages.actions import stamp_of
from apps.pages.changes import once
from apps.pages.changes.change import (
    AnyChange,
    Page,
    changes,
    found_by,
    names_of,
)
from apps.pages.changes.forms import (
    form_of,
    lines_of,
    place_error,
    sent_values,
    sentences_of,
)
from apps.pages.errors import ChangedMeanwhileError, PageError
from apps.pages.request.changes import ChangeForm
from apps.pages.urls import action, page
from deltaweb.delta.errors import DeltaError

Views: TypeAlias = Mapping[str, Callable[..., HttpResponseBase]]
Before: TypeAlias = Mapping[str, Callable[..., HttpResponseBase | None]]
CONFIRM: Final = "confirm"
NO_PAGES: Final[Views] = {}
FAULT: Final = 500
FORBIDDEN: Final = 403
ON_ITS_PAGE: Final = "fmt"
"""An argument that only the address of a page with a form has."""


def change_patterns(
    noun: str,
    *,
    failed: Views = NO_PAGES,
    answered: Views = NO_PAGES,
    shown: Views = NO_PAGES,
    before: Before = NO_PAGES,
) -> list[URLPattern]:
    """Return the patterns of the pages of the changes of a noun.

    Args:
        noun: The noun.
        failed: By the URL name of a page, the view that shows the form again with its
            errors: it takes the request, the subject and the form. Without one, the
            error is a message on the next page, or a page of its own.
        answered: By URL name, the view that shows the result: it takes the request,
            the subject and the result, and `fmt` if the page is in `shown`. It
            redirects with a message without one, so a result with a secret needs one.
        shown: By URL name, the page that has the form at the same address: it takes
            the request, the subject, `fmt` and the form, which is None at first. It
            shows the form again with its errors, too.
        before: By URL name, what may answer a form instead: it takes the request and
            the subject, and returns a response or None.
    """
    patterns = []
    for change in changes.of(noun):
        for name, one in change.pages.items():
            view = change_view(
                change,
                one,
                failed=failed.get(name),
                answered=answered.get(name),
                shown=shown.get(name),
                before=before.get(name),
            )
            if name in shown:
                patterns += page(one.route, view, name, posts=True, takes=one.takes)
            else:
                patterns.append(action(one.route, view, name))
    return patterns


def change_form(change: AnyChange, **stored: object) -> ChangeForm:
    """Return the form of a change, with stored values of its parameters."""
    lines = lines_of(change.parameters)
    initial = {lines[key].name or key: stored[key] for key in lines.keys() & stored}
    return _form_class(change)(initial=initial)


def change_form_of(change: AnyChange, posted: QueryDict) -> ChangeForm:
    """Return the form of a change as it was sent."""
    return _form_class(change)(posted)


def _form_class(change: AnyChange) -> type[ChangeForm]:
    return cast("type[ChangeForm]", form_of(change.parameters, ChangeForm))


def change_view(  # noqa: PLR0913 (as `change_patterns`)
    change: AnyChange,
    page: Page,
    *,
    failed: Callable[..., HttpResponseBase] | None = None,
    answered: Callable[..., HttpResponseBase] | None = None,
    shown: Callable[..., HttpResponseBase] | None = None,
    before: Callable[..., HttpResponseBase | None] | None = None,
) -> Callable[..., HttpResponseBase]:
    """Return the view of a page of a change; see `change_patterns`."""
    form_class = _form_class(change)
    find = page.find or change.of.find
    done = _answer(change, page, answered, is_shown=shown is not None)
    again = _shown_again(page, failed, shown)

    def view(request: HttpRequest, **names: Any) -> HttpResponseBase:  # noqa: ANN401 (of the address)
        fmt = names.pop(ON_ITS_PAGE, "html")
        others = [name for name in names_of(find) if name not in names]
        typed = {name: request.POST.get(name, "") for name in others}
        subject = found_by(find, request.user, {**names, **typed})
        change.of.may(request.user, subject)
        if shown is not None and request.method != "POST":
            return shown(request, subject, fmt=fmt, form=None)
        if before is not None and (instead := before(request, subject)) is not None:
            return instead
        form = form_class(request.POST)
        form.fields.update({name: forms.CharField(required=False) for name in typed})
        if to_confirm := page.confirm(subject):
            _add_confirm(form, to_confirm, change)
        if not form.is_valid():
            return again(request, subject, fmt, form)
        if page.repeated and once.is_repeat(request):
            messages.info(request, page.repeated)
            return redirect(page.back(subject))
        asked = change.parameters(**sent_values(form, change.parameters))
        try:
            result = change.carry_out(subject, asked, stamp_of(request))
        except (DeltaError, PageError) as error:
            if isinstance(error, PageError):
                # The page of the form would show what another request has deleted.
                is_gone = isinstance(error, ChangedMeanwhileError)
                is_fault = error.status >= FAULT or error.status == FORBIDDEN
                if is_fault or is_gone or not (failed or shown):
                    raise
                form.status = error.status
            place_error(form, change.parameters, error)
            return again(request, subject, fmt, form)
        return done(request, subject, fmt, result)

    # The middleware checks these.
    view.scope = change.of.scope  # type: ignore[attr-defined]
    view.role = change.of.role  # type: ignore[attr-defined]
    view.needs_session = page.needs_session  # type: ignore[attr-defined]
    return view


def _answer(
    change: AnyChange,
    page: Page,
    answered: Callable[..., HttpResponseBase] | None,
    *,
    is_shown: bool,
) -> Callable[..., HttpResponseBase]:
    """Return what answers a form that was done; see `change_patterns`."""
    if change.kept is not None and answered is None:  # a message is kept for a while
        message = f"{change.of.noun} {change.name} has a secret, but no page shows it"
        raise ValueError(message)

    def done(
        request: HttpRequest, subject: object, fmt: str, result: object
    ) -> HttpResponseBase:
        if answered is None:
            messages.success(request, change.says(result))
            return redirect(page.then(result) if page.then else page.back(subject))
        more = {"fmt": fmt} if is_shown else {}
        response = answered(request, subject, result, **more)
        if change.kept is not None:
            response["Cache-Control"] = "no-store"
        return response

    return done


def _shown_again(
    page: Page,
    failed: Callable[..., HttpResponseBase] | None,
    shown: Callable[..., HttpResponseBase] | None,
) -> Callable[..., HttpResponseBase]:
    """Return what answers a form with a fault; see `change_patterns`."""

    def again(
        request: HttpRequest, subject: object, fmt: str, form: ChangeForm
    ) -> HttpResponseBase:
        if shown is not None:
            return shown(request, subject, fmt=fmt, form=form)
        if failed is not None:
            return failed(request, subject, form)
        for sentence in sentences_of(form):
            messages.error(request, sentence)
        return redirect(page.back(subject))

    return again


def _add_confirm(form: forms.Form, text: str, change: AnyChange) -> None:
    """Let a form be valid only if a text was typed in it."""
    required = f"Type the {change.of.noun}'s name to {change.name} it."
    form.fields[CONFIRM] = forms.CharField(
        validators=[_equals(text, change.name)],
        error_messages={"required": required},
    )


def _equals(text: str, verb: str) -> Callable[[str], None]:
    def check(typed: str) -> None:
        if typed != text:
            message = f"Type {text} to {verb} it."
            raise forms.ValidationError(message)

    return check
