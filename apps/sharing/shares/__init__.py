"""Shares and the tables in them: their list, their page, and the tab of a table."""
