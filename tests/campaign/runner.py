"""Seed after seed in a process of its own, which may hang or die without taking the campaign with it.

Each trial is a line of JSON in a file. A campaign that finds the file goes on after its last seed.
"""

import json
import multiprocessing
import time
from collections import Counter, defaultdict
from pathlib import Path

from tests.campaign.trial import Trial, run

# Seconds of processor time for a problem, and for one of which much has yet to be compiled.
BOX, FIRST_BOX = 20.0, 90.0


def _work(pipe, names):
    while True:
        seed = pipe.recv()
        if seed is None:
            return
        began = time.process_time()
        trial = run(seed, names)
        pipe.send((trial.as_dict(), time.process_time() - began))


class Worker:
    """A process that runs one seed at a time."""

    def __init__(self, names=None):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, names), daemon=True)
        self.process.start()
        theirs.close()

    def run(self, seed, box):
        """(trial, seconds), or (None, why) if there was no end within the box, or the process died."""
        self.pipe.send(seed)
        began, wall = self._used(), time.monotonic()
        while not self.pipe.poll(0.25):
            if not self.process.is_alive():
                return None, f"the process died with exit code {self.process.exitcode}"
            if self._used() - began > box or time.monotonic() - wall > 20.0 * box:
                return None, f"no end in {box:.0f} s of processor time"
        try:
            return self.pipe.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            return None, f"the process died with exit code {self.process.exitcode}"

    def _used(self):
        """Processor time of the process, in seconds; that on the clock where it is not told."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return time.monotonic()
        return (int(fields[11]) + int(fields[12])) / 100.0

    def end(self):
        """End the process."""
        if self.process.is_alive():
            self.process.kill()
        self.process.join()


class Campaign:
    """Trials of consecutive seeds, kept in a file."""

    def __init__(self, path, names=None):
        self.path, self.names, self.worker = Path(path), names, None

    def trials(self):
        """Those that are in the file."""
        return [json.loads(line) for line in self._lines()]

    def _lines(self):
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        return text[: text.rfind("\n") + 1].splitlines()  # what was cut off is run again

    def go_on(self, seconds, first=0):
        """Run the seeds after the last one until the time is up."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        known, end = self._lines(), time.monotonic() + seconds
        seed = json.loads(known[-1])["seed"] + 1 if known else first
        with self.path.open("w", encoding="utf-8") as out:
            out.writelines(f"{line}\n" for line in known)
            while time.monotonic() < end:
                out.write(json.dumps(self._trial(seed)) + "\n")
                out.flush()
                seed += 1
        if self.worker is not None:
            self.worker.end()

    def _trial(self, seed):
        found, spent = self._attempt(seed, FIRST_BOX)
        if found is not None and spent > BOX:
            # What took the time may have been compiling: that is in memory now, and does not count again.
            found, spent = self._attempt(seed, BOX)
        if found is None:
            return Trial(seed, "", "no end", [f"end: {spent}"]).as_dict() | {"seconds": BOX}
        return found | {"seconds": round(spent, 3)}

    def _attempt(self, seed, box):
        if self.worker is None:
            self.worker = Worker(self.names)
        found = self.worker.run(seed, box)
        if found[0] is None:
            self.worker.end()
            self.worker = None
        return found


def table(trials):
    """Problems, endings and findings of each estimator, in Markdown."""
    rows, findings = defaultdict(Counter), Counter()
    for each in trials:
        status = each["status"].split(":")[0]
        rows[each["name"]][status] += 1
        findings[each["name"]] += bool(each["findings"])
    columns = ("OPTIMAL", "OPTIMAL_INACCURATE", "ITERATION_LIMIT", "STALLED", "NOT_CONVEX", "refused")
    total = sum(rows.values(), Counter())
    lines = [
        "| estimator | problems | optimal | inaccurate | iteration limit | stalled | not convex | refused | findings |",
        "|---|" + "---|" * 8,
    ]
    ordered = [*sorted((name, rows[name], findings[name]) for name in rows), ("all", total, findings.total())]
    for name, own, found in ordered:
        cells = (own.total(), *(own[column] for column in columns), found)
        lines.append(f"| {name or 'unknown'} | " + " | ".join(f"{cell:,}" for cell in cells) + " |")
    return "\n".join(lines)
