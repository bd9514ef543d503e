"""What every request passes on its way to a page: addresses, limits, errors."""
