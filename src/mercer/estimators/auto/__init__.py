"""What "auto" stands for: the kernel of a table, learnt from its rows, and the strength of a machine, by folds."""
