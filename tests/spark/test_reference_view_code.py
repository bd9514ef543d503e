"""The reference implementation runs the code for Spark on tables of each feature."""

from dataclasses import replace

import pytest

from apps.explorer.use.snippets import view_snippets
from apps.explorer.use.snippets.spark_code import pyspark_code
from tests.support.golden.recorded_views import of_recorded, one_of_each, recorded_view
from tests.support.peers.reference_implementation import RefusedError

pytestmark = pytest.mark.exhaustive  # every run has test_reference_in_turn


@of_recorded(one_of_each())
def test_spark_reads_all_rows_or_is_stopped(reference, folder, version, num_rows):
    view = recorded_view(folder, version)
    made = {made.key: made for made in view_snippets(view)}
    of_newest = {
        made.key: made.text for made in view_snippets(replace(view, version=None))
    }

    if "Spark + Delta" in view.refusals:
        assert made["pyspark"].refusal
        with pytest.raises(RefusedError, match="DELTA_UNSUPPORTED_TYPE_CHANGE"):
            reference.count(pyspark_code(view))
        return
    assert reference.count(made["pyspark"].text) == num_rows
    query = f"SELECT count(*) FROM (\n{of_newest['sql']}\n)"  # noqa: S608 (our own)
    assert reference.ask(sql=query)["rows"] == [[num_rows]]
