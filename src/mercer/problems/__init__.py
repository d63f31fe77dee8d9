"""What is minimised: problems in primal and dual form, and the certificates of their solutions."""
