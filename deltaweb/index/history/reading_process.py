"""The process that reads commits for another, which starts it by this module's name.

Its argument is the number of a file that both have open (`pool.serve`). What the
process sets for itself comes before all that it loads.
"""

import gc
import sys

from deltaweb.environment.own_process import prepare_process

if __name__ == "__main__":
    gc.disable()  # values of JSON form no cycles
    prepare_process()
    from deltaweb.index.history.pool import serve

    serve(int(sys.argv[1]))
