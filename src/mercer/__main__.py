"""`python -m mercer`: the command, for who has no `mercer` on the path."""

from mercer.cli import main

main()
