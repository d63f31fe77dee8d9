"""Items prepared for evaluation: dense and sparse rows, counts, integers."""
