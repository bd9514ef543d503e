"""How many random examples a test tries, in every run and where one explores."""

from hypothesis import settings

EXPLORED = 10  # times as many
USUAL, FEWEST = 12, 4  # every run tries a twelfth, but no less than four


def examples(count: int) -> int:
    """Examples to draw: `--hypothesis-profile=explore` tries ten times the count."""
    if settings.get_current_profile_name() == "explore":
        return count * EXPLORED
    return max(count // USUAL, min(count, FEWEST))
