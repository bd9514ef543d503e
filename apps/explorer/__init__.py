"""The read-only pages over one table, and the dashboard: one folder for each page.

Such a folder has a `selector` (database and index to frozen values), a `view`, and
where needed a `form` and a `chart`. `version`, `columns`, `grid` and `drawing` are
shared by several pages.
"""
