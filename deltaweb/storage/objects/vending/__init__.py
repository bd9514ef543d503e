"""The temporary credentials that read one folder of an object store.

Source: delta_sharing_protocol_2026.md, "Generate Temporary Table Credential".
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.storage.objects.vending import azure as azure
    from deltaweb.storage.objects.vending import google as google
    from deltaweb.storage.objects.vending import r2 as r2
    from deltaweb.storage.objects.vending import s3 as s3
else:
    __getattr__ = modules_on_demand(__name__)
