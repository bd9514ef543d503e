"""What the pages that add data ask for: the fields of their forms."""

from typing import Any, Final

from django import forms

from apps.tables.storage.locations import MAX_LENGTH
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.values.time_zones.errors import TimeZoneUnknownError
from deltaweb.delta.values.time_zones.known import UTC_ZONE, check_zone
from deltaweb.writer.importing.options import DAY_ORDERS, DELIMITERS, FORMATS, BadRows
from deltaweb.writer.importing.plan import ImportMode

DELIMITER_WORDS: Final = {
    ",": "Comma ,",
    ";": "Semicolon ;",
    "\t": "Tab",
    "|": "Bar |",
}
OPTIONS: Final = {
    "file_format": "Format",
    "delimiter": "Delimiter",
    "header": "First row holds",
    "null_text": "Text of null",
    "decimal_sign": "Decimal sign",
    "day_order": "Dates",
    "time_zone": "Times are in",
}
"""How a file is written, as the page asks for it."""
DAY_WORDS: Final = {"ymd": "YYYY-MM-DD", "dmy": "DD.MM.YYYY", "mdy": "MM/DD/YYYY"}


def known_zone(name: str) -> str:
    """Return the name of a zone, or nothing for nothing."""
    try:
        return name and check_zone(name)
    except TimeZoneUnknownError as error:
        message = f"{error.message} {error.hint}"
        raise forms.ValidationError(message) from None


class TableRequestForm(forms.Form):
    """A table that is to be made: its name and its place."""

    name = forms.CharField(
        max_length=401, error_messages={"required": "A table needs a name."}
    )
    location = forms.CharField(
        max_length=MAX_LENGTH, error_messages={"required": "Give its location."}
    )
    description = forms.CharField(max_length=10_000, required=False)


class ConvertForm(TableRequestForm):
    """A folder, and what its own folders name."""

    partition_schema = forms.CharField(max_length=10_000, required=False)
    time_zone = forms.CharField(max_length=60, required=False)

    def clean_time_zone(self) -> str:
        """Refuse a zone that is not one."""
        return known_zone(self.cleaned_data["time_zone"])

    def clean_partition_schema(self) -> str:
        """Refuse what is no DDL."""
        text: str = self.cleaned_data["partition_schema"].strip()
        if text:
            try:
                parse_columns_ddl(text)
            except SchemaError as error:
                raise forms.ValidationError(error.message) from None
        return text


class FileForm(forms.Form):
    """A file that is brought, was brought, or lies somewhere, and how it is written."""

    file = forms.FileField(required=False, allow_empty_file=True)
    upload = forms.UUIDField(required=False)
    path = forms.CharField(max_length=MAX_LENGTH, required=False)
    file_name = forms.CharField(max_length=1_000, required=False)
    file_format = forms.ChoiceField(
        choices=[("", "by its name"), *((name, name) for name in FORMATS)],
        required=False,
    )
    delimiter = forms.ChoiceField(
        choices=[("", "Find out"), *((c, DELIMITER_WORDS[c]) for c in DELIMITERS)],
        required=False,
    )
    header = forms.ChoiceField(
        choices=[("names", "Names"), ("data", "Data")], required=False
    )
    null_text = forms.CharField(max_length=50, required=False, strip=False)
    decimal_sign = forms.ChoiceField(
        choices=[("", "Find out"), (".", "Point ."), (",", "Comma ,")], required=False
    )
    day_order = forms.ChoiceField(
        choices=[
            ("", "Find out"),
            *((order, DAY_WORDS[order]) for order in DAY_ORDERS),
        ],
        required=False,
    )
    time_zone = forms.CharField(max_length=60, required=False)

    def options(self) -> list[tuple[str, forms.BoundField]]:
        """Return the fields of how the file is written, each with its label."""
        return [(label, self[name]) for name, label in OPTIONS.items()]

    def clean_time_zone(self) -> str:
        """Refuse a zone that is not one."""
        return known_zone(self.cleaned_data["time_zone"]) or UTC_ZONE


class ImportForm(FileForm):
    """A file, how it is written, and what becomes of its rows."""

    name = forms.CharField(max_length=401, required=False)
    location = forms.CharField(max_length=MAX_LENGTH, required=False)
    description = forms.CharField(max_length=10_000, required=False)
    mode = forms.ChoiceField(
        choices=[(mode.value, mode.value) for mode in ImportMode], required=False
    )
    bad_rows = forms.ChoiceField(
        choices=[(word.value, word.value) for word in BadRows], required=False
    )

    def clean(self) -> dict[str, Any]:
        """Ask for a file: one that is brought, was brought, or is at a path."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if not any(values.get(name) for name in ("file", "upload", "path")):
            self.add_error("file", "Choose a file, or give the path of one.")
        return values


class CreationForm(TableRequestForm, FileForm):
    """A table that is to be made of columns, or of those of a file."""
