"""Linear models: primal, dual, the L1 penalty, several classes."""
