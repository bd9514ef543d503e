"""The writer of data files in process: from Arrow rows to Parquet with statistics.

`rows` checks and completes rows, and `files` writes them. `rewrite`, `merge` and
`making` use both.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.writer import append as append
    from deltaweb.writer import importing as importing
    from deltaweb.writer import making as making
    from deltaweb.writer import matching as matching
    from deltaweb.writer import merge as merge
    from deltaweb.writer import optimize as optimize
    from deltaweb.writer import overwrite as overwrite
    from deltaweb.writer import respelling as respelling
    from deltaweb.writer import rewrite as rewrite
    from deltaweb.writer import rows as rows
    from deltaweb.writer import undo as undo
else:
    __getattr__ = modules_on_demand(__name__)
