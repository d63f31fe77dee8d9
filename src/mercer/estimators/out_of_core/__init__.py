"""Learning from blocks of rows that together need not fit into memory."""
