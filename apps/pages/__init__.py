"""What every page shares: formats, paging, errors, template tags."""
