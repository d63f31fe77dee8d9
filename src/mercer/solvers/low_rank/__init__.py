"""Machines that are restricted to what some landmarks span: how these are chosen, and what the restriction costs."""
