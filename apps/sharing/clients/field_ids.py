"""Whether Iceberg clients of a share get data files with field ids, or as stored."""

from dataclasses import dataclass
from typing import Final

from django.shortcuts import resolve_url

from apps.pages.changes.change import (
    ADMIN,
    Call,
    Change,
    Nothing,
    Page,
    Record,
    Subject,
    Verb,
    opposite,
)
from apps.sharing.activity.actions import things_of
from apps.sharing.models import Share
from apps.sharing.names import find_share


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldIdChoice:
    """The files that Iceberg clients of a share get.

    Attributes:
        with_field_ids: Whether the footers of data files have field ids. If false,
            files are served as stored, and some clients cannot read them.
    """

    name: str
    with_field_ids: bool


def _set(share: Share, *, with_field_ids: bool) -> FieldIdChoice:
    share.with_field_ids = with_field_ids
    share.save(update_fields=["with_field_ids"])
    return FieldIdChoice(name=share.name, with_field_ids=with_field_ids)


def _settings(share: Share) -> str:
    return resolve_url("sharing:share-settings", share.name)


def _said(one: FieldIdChoice) -> str:
    if one.with_field_ids:
        return f"Iceberg clients of {one.name} get files with field ids."
    return f"Iceberg clients of {one.name} get files as stored."


SHARE: Final = Subject(
    noun="share",
    role=ADMIN,
    scope="share",
    find=find_share,
    metavars={"name": "share"},
    about=things_of,
)
WITH_IDS: Final = Change(
    of=SHARE,
    name="field-ids",
    help="Give Iceberg clients of a share data files with field ids.",
    more="This is the default. Daft, DuckDB, Polars and PyIceberg need the ids.",
    parameters=Nothing,
    do=lambda share, _, __: _set(share, with_field_ids=True),
    result=FieldIdChoice,
    says=_said,
    record=Record("share.set_field_ids"),
    verb=Verb(),
    call=Call("PUT", "shares/<str:name>/field-ids", view="FieldIds", status=200),
    page=Page("shares/<str:name>/field-ids", back=_settings),
)
AS_STORED: Final = opposite(
    WITH_IDS,
    lambda share, _: _set(share, with_field_ids=False),
    help="Give Iceberg clients of a share data files as stored.",
    more="Daft then rejects tables whose files have no field ids.",
    record="share.remove_field_ids",
)
