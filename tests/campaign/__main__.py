"""Random problems over all estimators, judged by an oracle: ``python -m tests.campaign --seconds 600``.

It goes on where the file of the last run ends. ``--seed 17`` runs one problem again and says what is wrong with it;
the exit code is 1 if anything is.
"""

import argparse
import os
import sys
from pathlib import Path

# One thread: a problem is small, and its processor time is what the box bounds.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

from tests.campaign.runner import Campaign, table
from tests.campaign.trial import run


def _say(*lines):
    sys.stdout.write("\n".join(lines) + "\n")


def main():
    """Run a campaign, or one seed."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description="Random problems and an oracle.")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--file", type=Path, default=Path("build/campaign/trials.jsonl"))
    parser.add_argument("--first", type=int, default=0, help="the first seed of a new file")
    parser.add_argument("--seed", type=int, help="run this one only")
    parser.add_argument("--estimators", nargs="*", help="draw these only; a seed is then another problem")
    chosen = parser.parse_args()
    if chosen.seed is not None:
        trial = run(chosen.seed, chosen.estimators)
        _say(trial.status, trial.problem, *trial.findings)
        return bool(trial.findings)
    campaign = Campaign(chosen.file, chosen.estimators)
    campaign.go_on(chosen.seconds, chosen.first)
    found = list(campaign.trials())
    for each in found:
        for sentence in each["findings"]:
            _say(f"seed {each['seed']}: {each['name']}: {sentence}")
    _say(table(found))
    return any(each["findings"] for each in found)


if __name__ == "__main__":
    sys.exit(main())
