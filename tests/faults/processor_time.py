"""The processor time of another process: what a machine that has other things to do does not lengthen."""

import os
from pathlib import Path


def processor_seconds(pid):
    """Seconds that all threads of a process have had so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
