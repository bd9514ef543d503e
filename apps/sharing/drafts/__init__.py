"""The wizard that drafts a share in steps and creates it."""
