"""The responses of the sharing protocol: lists, table versions and files.

Source: delta_sharing_protocol.md, "REST APIs".
"""
