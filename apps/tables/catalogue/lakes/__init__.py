"""The lakes: folders and URLs that are scanned for tables."""
