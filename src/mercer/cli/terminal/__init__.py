"""How the command talks to a person and to a shell: options, bars, exit codes."""
