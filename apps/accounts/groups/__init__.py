"""Groups of users: their lists, their members, and what administrators change."""
