"""The pages that create, convert and import tables."""
