"""Items made ready for evaluation: dense and sparse rows, counts, whole numbers."""
