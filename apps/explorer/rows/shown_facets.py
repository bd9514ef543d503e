"""Facets as a page shows them: each value with the address that filters by it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from apps.explorer.rows.facets import Facet, FacetValue, other_conditions
from apps.explorer.rows.plan import RowPlan
from apps.pages.lists.links import changed


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFacet:
    """A facet with its links.

    Attributes:
        values: Each value, and the page with its condition or, if it is chosen,
            without; "" for one that no condition can have.
        more_url: The page with all values of the column.
        less_url: The page without the choice of columns; "" if there is none.
    """

    facet: Facet
    values: Sequence[tuple[FacetValue, str]]
    more_url: str
    less_url: str

    @classmethod
    def of(cls, request: HttpRequest, plan: RowPlan, facet: Facet) -> "ShownFacet":
        """Return a facet of the page of a request."""
        others = other_conditions(plan, facet.column)

        def url(value: FacetValue) -> str:
            if not value.condition:
                return ""
            kept = others if value.is_chosen else [*others, value.condition]
            return changed(request, f=kept or None, page=None, count=None)

        return cls(
            facet=facet,
            values=[(value, url(value)) for value in facet.values],
            more_url=changed(request, facet=facet.column),
            less_url=changed(request, facet=None) if facet.is_chosen else "",
        )


def facets_json(shown: Sequence[ShownFacet]) -> list[Facet]:
    """Return facets as the JSON form has them."""
    return [one.facet for one in shown]
