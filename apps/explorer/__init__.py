"""Read-only pages over one table, and the dashboard: one folder a page.

A page reads the database and the memory-mapped file index; one named commit file is all
that it asks of storage. In its folder:

    selector    what the page shows, as frozen values ready to render
    view        reads the query, asks the selector, answers as page, JSON and CSV
    chart       its pictures, where it has some
    form        its filters, where it has some

What several pages share is in `version`, `columns`, `grid` and `drawing`.
"""
