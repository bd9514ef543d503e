"""The page of the manual about the REST API."""

from apps.api.urls import described
from deltaweb.management.manual_pages import rest_page


def test_the_page_has_every_call_its_parameters_and_its_body():
    page = rest_page(described())

    for path, calls in described()["paths"].items():
        for method in calls:
            assert f"### {method.upper()} {path}\n" in page
    assert "| `parameters.cluster_by` | Columns to cluster by." in page
    assert "| `parameters.file.texts.has_header` | Whether the first row" in page
    assert "| `parameters.columns[].type` | The type as in DDL" in page
    assert "For administrators. A key needs the scope `share`." in page
    assert "| `v` | The version; the newest without." in page
    assert "Answers 200, 202, 304." in page
