"""Machines restricted to landmarks: the parameter, and how each kind of machine is fitted."""
