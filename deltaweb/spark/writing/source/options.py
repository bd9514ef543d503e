"""What users of the data source set, read once."""

import json
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.column_path import split_names
from deltaweb.environment.bounded_json import parse_json
from deltaweb.expressions.session.settings import SessionSettings
from deltaweb.spark import writing
from deltaweb.storage.place import TablePlace

if TYPE_CHECKING:
    from deltaweb.spark.writing.write_plan import WriteRequest


TIME_ZONE_OPTION: Final = "timeZone"
ANSI_OPTION: Final = "ansi"


class SourceOptionError(DeltaError, code="source-option"):
    """An option of the data source is missing, or has no meaning."""

    name: str
    value: str
    expected: str
    message = "The option {name!r} is {value!r}, which is not {expected}."
    hint = "Set it by .option({name!r}, ...), or leave it out."


@dataclass(frozen=True)
class SourceOptions:
    """The options of one use; names are found ignoring case.

    Attributes:
        values: By the name as Spark has it.
    """

    values: MutableMapping[str, str]

    @property
    def place(self) -> TablePlace:
        """The table: `path`, `storageOptions` and `allowedRoots`."""
        return TablePlace(
            location=self.text("path") or self._fail("path", "the location of a table"),
            storage_options=self._json("storageOptions", dict) or {},
            allowed_roots=tuple(self._json("allowedRoots", list) or ()),
        )

    def write_request(self, *, overwrite: bool) -> "WriteRequest":
        write_plan = writing.write_plan
        modes = write_plan.SaveMode
        app_id, version = self.text("txnAppId"), self.number("txnVersion")
        partitions = self.text("partitionBy")
        overwrites = (self.text("partitionOverwriteMode") or "static").lower()
        return write_plan.WriteRequest(
            mode=modes.OVERWRITE if overwrite else modes.APPEND,
            partition_by=None if partitions is None else tuple(split_names(partitions)),
            where=self.text("replaceWhere"),
            merge_schema=self.flag("mergeSchema"),
            overwrite_schema=self.flag("overwriteSchema"),
            dynamic=overwrite and overwrites == "dynamic",
            txn=None if app_id is None or version is None else (app_id, version),
        )

    @property
    def settings(self) -> SessionSettings:
        """What the reader has said of its session, which Spark does not tell."""
        ansi = self.text(ANSI_OPTION)
        return SessionSettings(
            time_zone=self.text(TIME_ZONE_OPTION),
            is_ansi=None if ansi is None else self.flag(ANSI_OPTION),
        )

    # === Values ===

    def text(self, name: str) -> str | None:
        """Return an option as it is; None without it."""
        return self.values.get(name)

    def flag(self, name: str) -> bool:
        """Return whether an option is true; it is not without a value."""
        text = (self.text(name) or "false").strip().lower()
        if text not in {"true", "false"}:
            self._fail(name, "true or false")
        return text == "true"

    def number(self, name: str, *, least: int = 0) -> int | None:
        """Return an option that is a whole number; None without it."""
        text = self.text(name)
        if text is None:
            return None
        is_number = text.isascii() and text.isdigit() and len(text) < len(str(2**63))
        if not is_number or int(text) < least:
            self._fail(name, f"a whole number, at least {least}")
        return int(text)

    def _json(self, name: str, kind: type) -> Any:  # noqa: ANN401  # what JSON holds
        text = self.text(name)
        if text is None:
            return None
        try:
            found = parse_json(text)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, kind):
            what = "an object" if kind is dict else "a list"
            # The value may hold a secret.
            raise SourceOptionError(name=name, value="...", expected=f"{what} of JSON")
        return found

    def _fail(self, name: str, expected: str) -> str:
        value = self.text(name) or ""
        raise SourceOptionError(name=name, value=value, expected=expected)


def source_options(place: TablePlace) -> Mapping[str, str]:
    """Return the options by which the data source finds a table."""
    options = {}
    if place.storage_options:
        options["storageOptions"] = json.dumps(dict(place.storage_options))
    if place.allowed_roots:
        options["allowedRoots"] = json.dumps([*place.allowed_roots])
    return options


def settings_options(settings: SessionSettings) -> Mapping[str, str]:
    """Return the options by which the data source knows a session."""
    zone = {} if settings.time_zone is None else {TIME_ZONE_OPTION: settings.time_zone}
    return {**zone, ANSI_OPTION: str(bool(settings.is_ansi)).lower()}
