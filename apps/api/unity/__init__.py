"""Sharing as providers' scripts speak it: Unity Catalog's addresses and names.

Terraform and the SDKs of the field manage shares, recipients and permissions by it. It
is another way to the same services, with the same permissions and record; what has no
meaning here (owners, other catalogs, partition lists) is refused by its name.

Source: Databricks REST API, "Shares" and "Recipients", version 2.1.
"""
