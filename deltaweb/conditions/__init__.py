"""Conditions of people and programs, as values of `deltaweb.delta.scan.predicate`.

One tree, two syntaxes, two interpretations:

tree            a condition as it is written
sql, json       its syntaxes (sql_text: SQL parsed within bounds)
interpretation  what the two interpretations have in common
refuse          exactly as written, or an error: the filters of shares
widen           as every client may mean it, and no stricter: hints
hints           the hints of a query, each understood or skipped alone

columns         the columns that conditions name; casts of them and of literals
exact           literals beside a column, brought to its exact type
common_type     lists beside a column, where no client rounds or compares as text
loose           literals beside a column, never stricter than any client
bounds          conditions from both sides, so that NOT loses no row
"""
