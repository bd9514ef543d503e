"""The database of a home as an older release left it, with a row in each table.

python -m tests.support.processes.older_home 0.2
"""

import sys
import uuid
from datetime import UTC, datetime
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


def make(release: str) -> None:
    """Migrate to what a release had, and forget that some were made one since."""
    import django

    django.setup()
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor
    from django.db.migrations.recorder import MigrationRecorder

    executor = MigrationExecutor(connection)
    known = executor.loader.graph.nodes
    targets = [target for target in OTHERS if target in known]
    targets.append(("tables", LAST[release]))
    executor.migrate(targets)
    recorded = MigrationRecorder(connection).migration_qs
    recorded.filter(name__contains="_squashed_").delete()
    made: dict[Any, Any] = {}
    for model in executor.loader.project_state(targets).apps.get_models():
        row_of(model, made)


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
    make(sys.argv[1])
