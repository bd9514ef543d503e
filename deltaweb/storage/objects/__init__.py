"""What object stores are asked beneath the store of a table.

driver     opens the driver of fsspec; its faults as errors of ours
errors     what stores refuse
listing    the objects of a folder, from a name on and by pages
creation   whether a server creates without replacing
confined   drivers that no redirect and no name leads into another network
quick      what obstore is asked instead, and which driver is for what
scan       the tables below a URL
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.storage.objects import scan as scan
else:
    __getattr__ = modules_on_demand(__name__)
