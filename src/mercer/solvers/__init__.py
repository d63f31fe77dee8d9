"""How a problem is solved: methods, limits, statuses."""
