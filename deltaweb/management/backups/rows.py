"""Values of models as JSON, on every database engine, and the state of migrations."""

import base64
from collections.abc import Iterator
from typing import Any, Final

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.models import JSONField, Value

from deltaweb.management.backups.lines import Row

NOT_KEPT: Final = frozenset(
    {
        "sessions.session",  # a restored server begins without any
        "sharing.browsersession",
        "jobs.worker",  # processes of the old server
        "api.keptanswer",  # of calls that are repeated within a day
        "sharing.preparedfile",  # copies in the old server's folder; made again
        "sharing.preparedversion",
        "sharing.preparedchanges",
    }
)
FETCHED: Final = 2_000  # rows at a time
_PLAIN: Final = (bool, int, str)


def applied(executor: MigrationExecutor) -> list[tuple[str, str]]:
    """Return the migrations that a database has, sorted."""
    return sorted(executor.loader.applied_migrations)


def last_of(
    executor: MigrationExecutor, having: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the last of some migrations in each app: the targets that lead to them."""
    graph, names = executor.loader.graph, set(having)
    return [
        key
        for key in having
        if key in graph.nodes
        and not any(
            child.key in names and child.key[0] == key[0]
            for child in graph.node_map[key].children
        )
    ]


def models_at(
    executor: MigrationExecutor, targets: list[tuple[str, str]]
) -> dict[str, Any]:
    """Return the models after some migrations, by label, as those knew them."""
    apps = executor.loader.project_state(targets).apps
    found = apps.get_models(include_auto_created=True)
    return {model._meta.label_lower: model for model in found}  # noqa: SLF001 (public)


def fields_of(model: Any) -> list[Any]:  # noqa: ANN401 (a historical model)
    """Return the fields that have a column."""
    found: list[Any] = model._meta.concrete_fields  # noqa: SLF001 (as above)
    return found


def read_rows(model: Any) -> Iterator[Row]:  # noqa: ANN401 (as above)
    """Yield the rows of a model as JSON values."""
    fields = fields_of(model)
    rows = model._base_manager.order_by("pk")  # noqa: SLF001 (as above)
    for row in rows.iterator(FETCHED):
        yield [to_json_value(field, row) for field in fields]


def to_json_value(field: Any, row: models.Model) -> object:  # noqa: ANN401 (a field)
    """Return one value as JSON."""
    value = getattr(row, field.attname)
    if value is None or isinstance(value, _PLAIN) or isinstance(field, JSONField):
        return value
    if isinstance(value, (bytes, memoryview)):
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, float):
        return repr(value)  # JSON has no NaN
    text: str = field.value_to_string(row)
    return text


def from_json_value(
    field: Any,  # noqa: ANN401 (a field)
    value: object,
    connection: BaseDatabaseWrapper,
) -> object:
    """Return a value as its field has it.

    PostgreSQL stores no zero character: it becomes U+FFFD there.
    """
    if connection.vendor == "postgresql":
        value = without_zeros(value)
    if isinstance(field, JSONField):
        is_null = value is None and not field.null
        return Value(None, JSONField()) if is_null else value
    if value is None:
        return None
    return getattr(field, "target_field", field).to_python(value)


def without_zeros(value: object) -> object:
    """Replace zero characters in texts, also within JSON."""
    match value:
        case str():
            return value.replace("\0", "\ufffd")
        case list():
            return [without_zeros(one) for one in value]
        case dict():
            return {
                without_zeros(key): without_zeros(one) for key, one in value.items()
            }
    return value
