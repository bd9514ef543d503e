"""Rows that a source is given to write, as the session stores them.

Spark casts nothing for a source written in Python, and tells it of the session in tasks
alone. What only the session could evaluate is refused there.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

import pyarrow as pa

from deltaweb.delta.protocol.schema import StructType, arrow_type
from deltaweb.delta.values.time_zones.rules import CLOCK, to_clocks, to_instants
from deltaweb.delta.writing.errors import SchemaMismatchError
from deltaweb.delta.writing.requirements import row_constraints
from deltaweb.expressions.errors import ExpressionError
from deltaweb.expressions.session.dependence import Dependence
from deltaweb.expressions.session.settings import SessionSettings
from deltaweb.expressions.session.zone_times import clocks_as, zone_of
from deltaweb.spark.writing.session.conditions import FilledColumns
from deltaweb.spark.writing.session.settings import settings_of_task
from deltaweb.spark.writing.write_plan import WritePlan

BY_FUNCTION = "only deltaweb.spark.write_table has Spark evaluate it"


def rows_of_session(
    plan: WritePlan, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """In a task: yield rows whose times are of the kinds that the table has."""
    settings = settings_of_task()
    first = next(batches, None)
    names = plan.schema.names if first is None else first.schema.names
    refuse_dependent(plan, names, settings)
    if first is None:
        return
    for batch in chain([first], batches):
        yield _stored(batch, plan.schema, settings)


def refuse_dependent(
    plan: WritePlan, given: Sequence[str], settings: SessionSettings
) -> None:
    """Refuse a write of which something depends on the session.

    Args:
        given: Names of the columns that rows have.
    """
    if settings.are_ours:
        return
    dependence = Dependence(plan.schema, settings)
    filled = FilledColumns.of(plan.schema, given, settings)
    asked = [
        *(rule.sql for rule in (*row_constraints(plan.metadata), *plan.request.rules)),
    ]
    dependent = [
        *(sql for sql in asked if dependence.of(sql)),
        *filled.generated.values(),
        *filled.defaults.values(),
    ]
    if dependent:
        reason = f"the session's settings change what it says, and {BY_FUNCTION}"
        raise ExpressionError(sql=dependent[0], reason=reason)


def _stored(
    batch: pa.RecordBatch, schema: StructType, settings: SessionSettings
) -> pa.RecordBatch:
    columns, misfits = [], {}
    for field, column in zip(batch.schema, batch.columns, strict=True):
        wanted = schema.find(field.name)
        kind = field.type if wanted is None else arrow_type(wanted.data_type)
        try:
            columns.append(_time(column, kind, settings))
        except OverflowError:
            misfits[field.name] = "does not fit: it is beyond the times that there are"
    if misfits:
        raise SchemaMismatchError(misfits=misfits)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _time(column: pa.Array, kind: pa.DataType, settings: SessionSettings) -> pa.Array:
    """Return times as the kind that the table has; all else as it is."""
    found = column.type
    are_times = all(
        pa.types.is_date32(one) or pa.types.is_timestamp(one) for one in (found, kind)
    )
    if not are_times or found == kind:
        return column
    was_zoned = pa.types.is_timestamp(found) and bool(found.tz)
    is_zoned = pa.types.is_timestamp(kind) and bool(kind.tz)
    if was_zoned and is_zoned:
        return column
    if not was_zoned and not is_zoned:
        return clocks_as(column.cast(CLOCK), kind)
    zone = zone_of(found.tz if was_zoned else settings.time_zone)
    if zone is None:
        return column
    if was_zoned:  # the zone of the type is the session's
        return clocks_as(to_clocks(column, zone), kind)
    return to_instants(column, zone).cast(kind)
