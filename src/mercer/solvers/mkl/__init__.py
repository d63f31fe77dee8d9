"""Kernel weights by bundle Newton steps, closed forms and alignment."""
