"""Support vector machines in primal and signed dual form."""
