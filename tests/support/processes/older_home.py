"""The homes that older releases left, each a folder with a row in each table.

python -m tests.support.processes.older_home FOLDER
"""

import shutil
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

AUDIT: Final = ("audit", "0001_initial_squashed_0004_count_by_index")
JOBS: Final = ("jobs", "0001_initial_squashed_0002_worker_queues")
SQUASHED: Final = "0001_initial_squashed_0004_refresh_schedule"
OTHERS: Final = [
    ("admin", "0003_logentry_add_action_flag_choices"),
    ("sessions", "0001_initial"),
    ("accounts", "0001_initial"),
    ("sharing", "0001_initial"),
    AUDIT,
    JOBS,
]
LAST: Final = {
    "0.1": SQUASHED,
    "0.2": "0006_missing_files",
    "0.3": "0007_refusals_without_places",
    "0.4": "0008_behind_tables",
}
"""The last migration of the tables app in each release; others have no later."""


def make(folder: Path) -> None:
    """Migrate from release to release; keep of each its database and a row a table."""
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor
    from django.db.migrations.recorder import MigrationRecorder

    database = Path(settings.DATABASES["default"]["NAME"])
    for release, last in LAST.items():
        executor = MigrationExecutor(connection)
        known = executor.loader.graph.nodes
        targets = [target for target in OTHERS if target in known]
        targets.append(("tables", last))
        executor.migrate(targets)
        connection.close()
        bare = shutil.copy(database, folder / "bare")
        # Of what has been made one since, a release had the parts.
        recorded = MigrationRecorder(connection).migration_qs
        recorded.filter(name__contains="_squashed_").delete()
        made: dict[Any, Any] = {}
        for model in executor.loader.project_state(targets).apps.get_models():
            row_of(model, made)
        connection.close()
        (folder / release).mkdir(mode=0o700)
        shutil.copy(database, folder / release)
        shutil.move(bare, database)


def row_of(model: Any, made: dict[Any, Any]) -> Any:  # noqa: ANN401 (Django's models)
    """Return the row of a model, made once with those that it leads to."""
    if model not in made:
        about = model._meta  # noqa: SLF001 (public, by Django's documentation)
        fields = [field for field in about.concrete_fields if field.name != "id"]
        made[model] = model(**{f.name: value_of(f, made) for f in fields})
        made[model].save(force_insert=True)
        for field in about.many_to_many:
            if field.remote_field.through._meta.auto_created:  # noqa: SLF001 (as above)
                getattr(made[model], field.name).add(row_of(field.related_model, made))
    return made[model]


def value_of(field: Any, made: dict[Any, Any]) -> Any:  # noqa: ANN401 (of any type)
    """Return a value that a field takes; nothing leads to a row of its own table."""
    if field.is_relation:
        is_own = field.related_model is field.model
        return None if is_own else row_of(field.related_model, made)
    if field.choices:
        return field.choices[0][0]
    at = datetime(2026, 11, 21, tzinfo=UTC)
    values = {
        "UUIDField": uuid.uuid4(),
        "DateTimeField": at,
        "DateField": at.date(),
        "JSONField": {},
        "BooleanField": False,
        "BinaryField": b"x",
        "CharField": "x",
        "TextField": "x",
    }
    return values.get(field.get_internal_type(), 1)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
