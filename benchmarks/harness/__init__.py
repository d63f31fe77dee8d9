"""How a race is run, timed, judged and shown."""
