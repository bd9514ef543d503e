"""The events of tables, shares and jobs, and those whom they are sent to."""
