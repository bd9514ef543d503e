"""Why a version is not read, as it was stored once: with the table's place.

Pages show it of other versions, and to people who need not know the place.
"""

import re

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_SUBJECT = re.compile(r"^.* at version \d+ (?=uses |needs )", re.DOTALL)
_OF_PLACE = re.compile(r" of .* at version \d+(?=\.?$)", re.DOTALL)


def without_place(reason: str) -> str:
    """Return a reason without the place and the version that it was found at."""
    return _OF_PLACE.sub("", _SUBJECT.sub("It ", reason))


def leave_places_out(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Shorten what is stored."""
    protocols = apps.get_model("tables", "ProtocolVersion").objects
    for row in protocols.exclude(unsupported_reason="").iterator():
        shorter = without_place(row.unsupported_reason)
        protocols.filter(id=row.id).update(unsupported_reason=shorter)


class Migration(migrations.Migration):
    dependencies = [
        ("tables", "0005_wide_schemas_squashed_0006_missing_files"),
    ]

    operations = [
        migrations.RunPython(leave_places_out, migrations.RunPython.noop),
    ]
