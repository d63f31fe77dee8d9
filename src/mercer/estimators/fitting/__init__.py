"""The steps of a fit: input, weights, tasks, data, solution, certificate."""
