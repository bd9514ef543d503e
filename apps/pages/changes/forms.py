"""Forms, made of the parameters of an operation or a change."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from django import forms

from apps.pages.changes.parameters import ARGUMENT, Argument, Line, Span
from apps.pages.request.changes import ChangeForm, CheckBoxesField
from deltaweb.errors import DeltawebError

MAX_TEXT_LENGTH: Final = 10_000
OTHER: Final = "custom"
"""What is sent for another span than those that can be chosen."""
MAX_SPAN_LENGTH: Final = 20
SPAN_HELP: Final = "Enter 45d, 12h or a date such as 2030-12-31."
WRONG: Final = ("invalid", "required", "min_value", "max_value")


def form_of(kind: type, base: type[forms.Form] = forms.Form) -> type[forms.Form]:
    """Return the form of the parameters that have a line of it, in their order.

    Its fields have the labels and the style of these lines.
    """
    hints = get_type_hints(kind)
    found: dict[str, Any] = {
        line.name or name: _field(hints[name], line)
        for name, line in lines_of(kind).items()
    }
    return type(f"{kind.__name__}Form", (base,), found)


def lines_of(kind: type) -> dict[str, Line]:
    """Return the parameters that have a line in the form, by their names."""
    found: dict[str, Line] = {}
    for one in fields(kind):
        argument: Argument | None = one.metadata.get(ARGUMENT)
        if argument is not None and argument.line is not None:
            found[one.name] = argument.line
    return found


def place_error(form: forms.Form, kind: type, error: DeltawebError) -> None:
    """Show an error beside the field that it is about, or else above the form.

    Args:
        form: The form, which has been validated.
        kind: The parameters that it was made of.
        error: Its code is looked up in `Line.codes`, also with its `kind`, as in
            `name-invalid schema`.
    """
    codes = {error.code, f"{error.code} {getattr(error, 'kind', '')}"}
    about = (
        line.name or name
        for name, line in lines_of(kind).items()
        if not codes.isdisjoint(line.codes)
    )
    form.add_error(next(about, None), str(error))


def sent_values(form: ChangeForm, kind: type) -> dict[str, Any]:
    """Return the parameters that a valid form was sent with, by their names."""
    return {
        name: form.cleaned_data[line.name or name]
        for name, line in lines_of(kind).items()
        if form.is_sent(line.name or name)
    }


def sentences_of(form: forms.Form) -> list[str]:
    """Return the errors of a form as sentences, each with the label of its field."""
    found = []
    for name, errors in form.errors.items():
        label = form.fields[name].label if name in form.fields else None
        found += [f"{label}: {one}" if label else str(one) for one in errors]
    return found


class TextListField(forms.CharField):
    """A text area with a value a line."""

    def __init__(self, *, splits: Callable[[str], list[str]], **how: Any) -> None:  # noqa: ANN401 (Django's own)
        super().__init__(**how)
        self.splits = splits

    def clean(self, value: Any) -> Any:  # noqa: ANN401 (as above)
        """Return the values; a blank one is left out by `splits`, or refused."""
        return self.splits(super().clean(value) or "")

    def prepare_value(self, value: Any) -> Any:  # noqa: ANN401 (as above)
        """Return what the text area shows: what was typed, or the values."""
        return "\n".join(value) if isinstance(value, (list, tuple)) else value


class ButtonInput(forms.CheckboxInput):
    """A button, which is sent without a value if it was pressed."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> bool:  # noqa: ANN401 (Django's own)
        """Return whether it was pressed."""
        del files
        return name in data


class WordField(forms.ChoiceField):
    """A choice of words, which may be sent in any capitals."""

    def __init__(self, *, words: Iterable[str], **how: Any) -> None:  # noqa: ANN401 (Django's own)
        self.words = {one.lower(): one for one in words}
        super().__init__(choices=[(one, one) for one in self.words.values()], **how)

    def to_python(self, value: Any) -> str:  # noqa: ANN401 (as above)
        """Return the word as it was declared."""
        sent: str = super().to_python(value)
        return self.words.get(sent.lower(), sent)


class SpanInput(forms.TextInput):
    """A choice of spans of time, and a field for another."""

    def __init__(self, own: str) -> None:
        super().__init__()
        self.own = own

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:  # noqa: ANN401 (Django's own)
        """Return what was chosen, and what was typed."""
        del files
        return data.get(name, ""), data.get(self.own, "").strip()


class SpanField(forms.Field):
    """A span of time, as text; its template is `sharing/_spans.html`."""

    def __init__(self, *, span: Span, label: str) -> None:
        super().__init__(label=label, required=False, widget=SpanInput(span.own))
        self.span = span

    def clean(self, value: Any) -> str | None:  # noqa: ANN401 (as above)
        """Return the span that was chosen or typed; None for that of ""."""
        chosen, typed = value
        if chosen in self.span.presets():
            text = chosen
        elif chosen != OTHER or not self.span.own:
            raise forms.ValidationError(self.span.question)
        elif not 0 < len(typed) <= MAX_SPAN_LENGTH:
            raise forms.ValidationError(SPAN_HELP)
        else:
            text = typed
        try:
            if text:
                self.span.check(text)
        except DeltawebError as error:
            raise forms.ValidationError(str(error)) from error
        return text or None

    def prepare_value(self, value: Any) -> tuple[str, str]:  # noqa: ANN401 (as above)
        """Return what is chosen and what is typed, as the page shows them."""
        if isinstance(value, tuple):
            return value
        text = value or ""
        return (text, "") if text in self.span.presets() else (OTHER, text)


class NamesField(CheckBoxesField):
    """Check boxes whose names are looked up by the change."""

    def valid_value(self, value: str) -> bool:
        """Accept any name."""
        del value
        return True


def _field(hint: Any, line: Line) -> forms.Field:  # noqa: ANN401 (any type)
    if line.span is not None:
        return SpanField(span=line.span, label=line.label)
    parts = {hint, *get_args(hint)}
    for one in parts:
        if get_origin(one) is Literal:
            return _choice(get_args(one), line)
    if list[str] in parts:
        return _names(line) if line.is_boxes else _texts(line)
    kinds = {one for one in parts if one in FIELDS}
    return FIELDS[kinds.pop()](line)


def _whole_number(line: Line) -> forms.Field:
    return forms.IntegerField(
        min_value=line.least,
        max_value=line.most,
        widget=forms.NumberInput(attrs=_look(line)),
        error_messages=dict.fromkeys(WRONG, line.wrong) if line.wrong else {},
        **_words(line),
    )


def _text(line: Line) -> forms.Field:
    return forms.CharField(
        max_length=line.most or MAX_TEXT_LENGTH,
        widget=forms.TextInput(attrs=_look(line)),
        error_messages={"required": line.wrong} if line.wrong else {},
        **_words(line),
    )


def _texts(line: Line) -> forms.Field:
    return TextListField(
        splits=line.splits, max_length=line.most or MAX_TEXT_LENGTH, **_words(line)
    )


def _names(line: Line) -> forms.Field:
    if (choices := line.choices) is None:
        return NamesField(**_words(line))
    return CheckBoxesField(
        choices=lambda: [(one, one) for one in choices()], **_words(line)
    )


def _choice(values: tuple[Any, ...], line: Line) -> forms.Field:
    wrong = {"error_messages": {"invalid_choice": line.wrong}} if line.wrong else {}
    return WordField(words=values, **wrong, **_words(line))


def _box(line: Line) -> forms.Field:
    widget = ButtonInput if line.is_button else forms.CheckboxInput
    return forms.BooleanField(widget=widget, **_words(line))


def _words(line: Line) -> dict[str, Any]:
    return {
        "label": line.label,
        "help_text": line.help,
        "required": line.is_needed,
    }


def _look(line: Line) -> dict[str, str]:
    return {"class": "dw-input", "placeholder": line.placeholder, "autocomplete": "off"}


FIELDS: Final[Mapping[Any, Callable[[Line], forms.Field]]] = {
    bool: _box,
    int: _whole_number,
    str: _text,
}
