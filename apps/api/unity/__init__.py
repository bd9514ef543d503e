"""The provider API of Unity Catalog, for Terraform and the Databricks SDKs.

It maps their addresses and names onto our services. Fields without a counterpart here
(owners, other catalogs, partition lists) are refused by name.

Source: Databricks REST API, "Shares" and "Recipients", version 2.1.
"""
