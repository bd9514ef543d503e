"""How many random examples a test tries, in every run and where one explores."""

from hypothesis import settings

EXPLORED = 10  # times as many


def examples(count: int) -> int:
    """Examples to draw: so many, or more by `pytest --hypothesis-profile=explore`."""
    explores = settings.get_current_profile_name() == "explore"
    return count * EXPLORED if explores else count
