"""Solutions as a function of C, and with one row left out."""
