"""A process of its own that takes a line and answers with lines of JSON, until nobody asks any more."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Companion:
    """``python -m module``, to be used as a context. One whose test fails is ended, any other must end well."""

    def __init__(self, module):
        self.process = subprocess.Popen(
            [sys.executable, "-m", module], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def say(self, line):
        print(line, file=self.process.stdin, flush=True)

    def hear(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, line):
        self.say(line)
        return self.hear()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.stdin.close()
        if kind is not None:
            self.process.kill()
        code = self.process.wait(600)
        self.process.stdout.close()
        assert kind is not None or code == 0
