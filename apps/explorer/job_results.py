"""Which page of the explorer shows the result of a job."""

from typing import Final

from apps.explorer.selectors.column_address import column_address
from apps.jobs.models import Job
from apps.tables.job_results import Page, on_table


def _files(job: Job) -> Page:
    return "explorer:file-list", (), {"v": job.parameters["version"]}


def _missing_rows(job: Job) -> str | None:
    """A preview that met a missing file leads to the page that says what is gone."""
    if not (isinstance(job.result, dict) and job.result.get("missing")):
        return None
    query = {"v": job.parameters["version"]}
    return on_table(lambda _job: ("explorer:row-list", (), query))(job)


def _compared_files(job: Job) -> Page:
    versions = (job.parameters["from"], job.parameters["to"])
    return "explorer:compare-detail", versions, {}


def _compared_rows(job: Job) -> Page:
    url_name, versions, _ = _compared_files(job)
    key = ",".join(job.parameters.get("key") or ())
    return url_name, versions, {"view": "rows"} | ({"key": key} if key else {})


def _profile(job: Job) -> Page:
    address = column_address(job.parameters["column"])
    return "explorer:column-detail", (address,), {"v": job.parameters["version"]}


PAGES: Final = {
    "tables.check_files": on_table(lambda _job: ("explorer:table-overview", (), {})),
    "tables.index_log": on_table(lambda _job: ("explorer:table-overview", (), {})),
    "tables.list_version_files": on_table(_files),
    "tables.diff_files": on_table(_compared_files),
    "tables.diff_rows": on_table(_compared_rows),
    "tables.preview_rows": _missing_rows,
    "tables.profile_column": on_table(_profile),
}
