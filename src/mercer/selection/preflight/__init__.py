"""What a fit will take and what is odd about the data, before it begins."""
