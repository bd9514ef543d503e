"""The addresses that forms and buttons of changes send to, by POST."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern

from apps.pages.actions import stamp_of
from apps.pages.changes.change import Change, changes
from apps.pages.changes.forms import form_of, place_error, sentences_of
from apps.pages.request.changes import ChangeForm
from apps.pages.urls import action
from deltaweb.delta.errors import DeltaError

Answers: TypeAlias = Mapping[str, Callable[[HttpRequest, Any, Any], HttpResponseBase]]
CONFIRM: Final = "confirm"
NO_PAGES: Final[Answers] = {}


def change_patterns(
    noun: str, *, failed: Answers = NO_PAGES, answered: Answers = NO_PAGES
) -> list[URLPattern]:
    """Return the patterns of the pages of the changes of a noun.

    Args:
        noun: The noun.
        failed: By the URL name of a change, the page that shows the form again with
            its errors: it takes the request, the subject and the form. The error is a
            message on the next page without one.
        answered: By URL name, the page that shows the result: it takes the request,
            the subject and the result. It redirects with a message without one.
    """
    patterns = []
    for one in changes.of(noun):
        if one.page is not None:
            name = one.url_name
            view = change_view(
                one, failed=failed.get(name), answered=answered.get(name)
            )
            patterns.append(action(one.page.route, view, name))
    return patterns


def change_view(
    change: Change[Any, Any, Any],
    *,
    failed: Callable[..., HttpResponseBase] | None = None,
    answered: Callable[..., HttpResponseBase] | None = None,
) -> Callable[..., HttpResponseBase]:
    """Return the view of a change; see `change_patterns`."""
    page = change.page
    if page is None:
        message = f"{change.noun} {change.name} has no page"
        raise ValueError(message)
    form_class = cast("type[ChangeForm]", form_of(change.parameters, ChangeForm))

    def view(request: HttpRequest, **names: str) -> HttpResponseBase:
        others = [name for name in change.page_names if name not in names]
        typed = {name: request.POST.get(name, "") for name in others}
        subject = change.page_find(**{**names, **typed})
        form = form_class(request.POST)
        form.fields.update({name: forms.CharField(required=False) for name in typed})
        if change.confirm is not None:
            _add_confirm(form, change.confirm(subject), change.noun)
        if form.is_valid():
            values = form.cleaned_data.items()
            sent = {name: one for name, one in values if form.is_sent(name)}
            apart = {CONFIRM, *typed}
            asked = change.parameters(
                **{name: one for name, one in sent.items() if name not in apart}
            )
            try:
                result = change.carry_out(subject, asked, stamp_of(request))
            except DeltaError as error:
                place_error(form, change.parameters, error)
            else:
                if answered is not None:
                    return answered(request, subject, result)
                messages.success(request, change.says(result))
                return redirect(page.back(subject))
        if failed is not None:
            return failed(request, subject, form)
        for sentence in sentences_of(form):
            messages.error(request, sentence)
        return redirect(page.back(subject))

    view.role = change.role  # type: ignore[attr-defined]  # the middleware checks it
    return view


def _add_confirm(form: forms.Form, text: str, noun: str) -> None:
    """Let a form be valid only if a text was typed in it."""
    form.fields[CONFIRM] = forms.CharField(
        validators=[_equals(text)],
        error_messages={"required": f"Type the {noun}'s name to delete it."},
    )


def _equals(text: str) -> Callable[[str], None]:
    def check(typed: str) -> None:
        if typed != text:
            message = f"Type {text} to delete it."
            raise forms.ValidationError(message)

    return check
