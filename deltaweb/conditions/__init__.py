"""Conditions of people and programs: three ways into one tree, and what comes of it.

tree            a condition as it is written; its comparisons are those of the one table
                of them, `deltaweb.delta.scan.operators`
sql, json       ways in: SQL (sql_text: parsed within bounds), and hints in JSON; the
                filters of addresses are the third (`explorer/rows/filters`)
dialects        ways out: the SQL of three readers
widen           what it says of files and row groups, as every client may mean it and
                no stricter
hints           the hints of a query, each understood or skipped alone; the reach of a
                condition whose rows `deltaweb.expressions` judges

columns         the columns that conditions name
named           the columns that a rule of a table names
casts           casts of them, and of literals
exact           literals beside a column, brought to its exact type
common_type     lists beside a column, where no client rounds or compares as text
loose           literals beside a column, never stricter than any client
bounds          conditions from both sides, so that NOT loses no row
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.conditions import hints as hints
    from deltaweb.conditions import named as named
else:
    __getattr__ = modules_on_demand(__name__)
