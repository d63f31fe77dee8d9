"""Kernel values of many pairs at once: tiles, symmetric products, a cache of rows."""
