"""What `mercer demo` trains on, draws and says."""
