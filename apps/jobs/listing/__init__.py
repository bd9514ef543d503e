"""Jobs as pages list them: rows, filters, failures by what they are about."""
