"""Spark's SQL expressions over Arrow rows, in process.

What cannot be translated exactly, with Spark's semantics in its ANSI mode, is refused
by name. Read the modules in this order:

    node          an expression that is bound to rows: a type, and values of batches
    compiler      the SQL as nodes
    comparison    equal, less, IN, BETWEEN, LIKE, and logic of three values
    choice        CASE, COALESCE and their kin, which look at a row only where they must
    arithmetic    numbers
    casts         values of one type as those of another
    common_types  the type in which unlike values meet
    functions     the functions that are known
    char_columns  texts of a fixed length, padded as Spark reads them
    row_only      what reaches beyond its row, and is evaluated nowhere
    mistakes      misspelt names, and values that are never the same
    bounds        how much any of it may make
    condition     a boolean expression; an assignment
    session       what of all this the settings of a session change
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.expressions import compiler as compiler
    from deltaweb.expressions import condition as condition
    from deltaweb.expressions import session as session
else:
    __getattr__ = modules_on_demand(__name__)
