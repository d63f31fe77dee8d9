"""The commands of `mercer`, one file each."""
