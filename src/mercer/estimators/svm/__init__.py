"""Support vector machines in a kernel's feature space."""
