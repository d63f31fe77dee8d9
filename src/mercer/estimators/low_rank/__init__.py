"""Machines restricted to landmarks: what is asked for, and how each kind of machine is fitted."""
