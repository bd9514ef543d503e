"""The homes that older releases left, each a folder with a row in each table.

python -m tests.support.processes.older_home FOLDER
"""

import shutil
import sys
import uuid
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any, Final

AUDIT: Final = ("audit", "0001_initial_squashed_0004_count_by_index")
JOBS: Final = ("jobs", "0001_initial_squashed_0002_worker_queues")
FIRST: Final = [
    ("sessions", "0001_initial"),
    ("accounts", "0001_initial"),
    ("sharing", "0001_initial"),
    AUDIT,
    JOBS,
    ("tables", "0001_initial_squashed_0004_refresh_schedule"),
]
NAMED: Final = {"right": "view", "every": "day"}
"""Values of fields that take some texts only, without choices."""
LAST: Final[dict[str, list[tuple[str, str]]]] = {
    "0.1": FIRST,
    "0.2": [("tables", "0005_wide_schemas_squashed_0006_missing_files")],
    "0.3": [("tables", "0007_refusals_without_places")],
    "0.4": [("tables", "0008_behind_tables")],
    "0.6": [("tables", "0009_lakes")],
    "0.7": [
        (
            "sharing",
            "0002_grants_by_rows_and_columns_squashed_0009_told_reminders",
        ),
        ("accounts", "0002_api_key_scopes_and_ends"),
        ("api", "0001_kept_answers"),
        ("audit", "0005_rows_of_offers"),
    ],
}
"""The last migrations that each release has had, where the one before had others."""


def make(folder: Path) -> None:
    """Migrate from release to release; keep of each its database and a row a table."""
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor
    from django.db.migrations.recorder import MigrationRecorder

    database = Path(settings.DATABASES["default"]["NAME"])
    targets: dict[str, str] = {}
    for release, last in LAST.items():
        targets |= last
        executor = MigrationExecutor(connection)
        executor.migrate(list(targets.items()))
        connection.close()
        bare = shutil.copy(database, folder / "bare")
        # Of what has been made one since, a release had the parts.
        recorded = MigrationRecorder(connection).migration_qs
        recorded.filter(name__contains="_squashed_").delete()
        made: dict[Any, Any] = {}
        for model in executor.loader.project_state(
            list(targets.items())
        ).apps.get_models():
            row_of(model, made)
        connection.close()
        (folder / release).mkdir(mode=0o700)
        shutil.copy(database, folder / release)
        shutil.move(bare, database)


def row_of(model: Any, made: dict[Any, Any], empty: tuple[str, ...] = ()) -> Any:  # noqa: ANN401 (Django's models)
    """Return the row of a model, made once with those that it leads to.

    Args:
        empty: The names of fields that keep their defaults.
    """
    if model not in made:
        about = model._meta  # noqa: SLF001 (public, by Django's documentation)
        left_out = {"id", *empty}
        fields = [one for one in about.concrete_fields if one.name not in left_out]
        row = model(**{f.name: value_of(f, made) for f in fields})
        row.save(force_insert=True)
        made[model] = row
        for field in about.many_to_many:
            if field.remote_field.through._meta.auto_created:  # noqa: SLF001 (as above)
                getattr(made[model], field.name).add(row_of(field.related_model, made))
    return made[model]


def value_of(field: Any, made: dict[Any, Any]) -> Any:  # noqa: ANN401 (of any type)
    """Return a value that a field takes; nothing leads to a row of its own table."""
    if field.is_relation:
        is_own = field.related_model is field.model
        return None if is_own else row_of(field.related_model, made)
    if field.name in NAMED:
        return NAMED[field.name]
    if field.choices:
        return field.choices[0][0]
    at = datetime(2026, 11, 21, tzinfo=UTC)
    values = {
        "UUIDField": uuid.uuid4(),
        "DateTimeField": at,
        "DateField": at.date(),
        "TimeField": time(2, 30),
        "JSONField": {},
        "BooleanField": False,
        "BinaryField": b"x",
        "CharField": "x",
        "TextField": "x",
    }
    return values.get(field.get_internal_type(), 1)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
