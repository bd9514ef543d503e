"""The handling of a request before its page: addresses, parameters, limits, errors."""
