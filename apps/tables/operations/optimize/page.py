"""The page that packs small files, or lays rows out by columns."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms

from apps.pages.changes.parameters import names_of
from apps.tables.operations.optimize.operation import OPTIMIZE, Optimize
from apps.tables.operations.pages.page import OperationPage, by_values
from deltaweb.delta.protocol.column_path import join_names

MAX_TARGET_MIB: Final = 16_384
MIB: Final = 20  # bits
MAX_COLUMNS: Final = 8


class OptimizeForm(forms.Form):
    """The partitions, the columns to cluster by, and the size of files."""

    where = forms.CharField(max_length=2_000, required=False)
    cluster_by = forms.CharField(max_length=1_000, required=False)
    target_mib = forms.IntegerField(
        min_value=1,
        max_value=MAX_TARGET_MIB,
        required=False,
        error_messages={"invalid": "Give a whole number of MiB."},
    )

    respell = forms.BooleanField(required=False)

    def clean_cluster_by(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        found = names_of(self.cleaned_data["cluster_by"])
        if len(found) > MAX_COLUMNS:
            message = f"More than {MAX_COLUMNS} columns are close to nothing."
            raise forms.ValidationError(message)
        return found

    def clean(self) -> dict[str, Any]:
        """Take one of two ways: files are written, or texts of the log."""
        values = super().clean() or self.cleaned_data
        others = ("cluster_by", "target_mib")
        if values.get("respell") and any(values.get(name) for name in others):
            message = "Respelling writes no file: leave columns and file size empty."
            self.add_error("respell", message)
        return values


def _asked(values: Mapping[str, Any]) -> Optimize:
    mib = values["target_mib"]
    return Optimize(
        where=values["where"].strip(),
        cluster_by=values["cluster_by"],
        target_bytes=None if mib is None else mib << MIB,
        respell=values["respell"],
    )


def _fields(asked: Optimize) -> dict[str, Any]:
    size = asked.target_bytes
    return {
        "where": asked.where,
        "cluster_by": join_names(asked.cluster_by, ", "),
        "target_mib": None if size is None else size >> MIB,
        "respell": asked.respell,
    }


OPTIMIZE_PAGE: Final = OperationPage(
    operation=OPTIMIZE,
    form=OptimizeForm,
    heading="Optimize",
    about="Combines small files of a partition into larger ones, and can cluster "
    "rows so that readers skip more files. No rows change. The old files stay in "
    "storage until a vacuum, for older versions.",
    icon="arrows-join",
    previews_at_once=True,
    failed="The table was not optimized",
    read=by_values(_asked),
    shows=_fields,
)
