"""A short, deterministic run of every fuzz target: its corpus, and mutations of it.

`make fuzz` goes further with atheris, which steers by what code an input reaches.
"""

import random
import re
from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
# Numbers that break what trusts its input.
NASTY = (
    b"-1",
    b"0",
    b"2147483648",
    b"9223372036854775808",
    b"1e309",
    b"nan",
    b"1e-320",
    b"",
    b"1:1",
    b"\n",
    b"\xff\x00",
)
MUTATIONS = 400


def test_make_runs_every_target():
    listed = re.search(r"^FUZZ \?= ((?:.*\\\n)*.*)$", (CORPUS.parents[2] / "Makefile").read_text(), re.MULTILINE)[1]
    assert sorted(listed.replace("\\", " ").split()) == sorted(TARGETS)


def seeds(name):
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


def mutated(data, others, rng):
    """A neighbour of `data`: a number replaced, a byte flipped, a part cut, doubled or taken from elsewhere."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        kind = rng.randrange(6)
        if kind == 0:
            words = bytes(data).split(b" ")
            words[rng.randrange(len(words))] = rng.choice(NASTY)
            data = bytearray(b" ".join(words))
        elif kind == 1 and data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del data[at:end]
        elif kind == 3:
            data[at:at] = data[at:end]
        elif kind == 4:
            other = rng.choice(others)
            data[at:end] = other[at:end]
        else:
            data[at:at] = rng.choice(NASTY)
    return bytes(data[:4096])


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus(name):
    inputs = seeds(name)
    assert inputs
    for data in inputs:
        TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
def test_mutations_of_the_corpus(name):
    inputs, rng = seeds(name), random.Random(20)  # noqa: S311 - not for secrets
    for _ in range(MUTATIONS):
        data = mutated(rng.choice(inputs), inputs, rng)
        try:
            TARGETS[name](data)
        except Exception as error:
            error.add_note(f"the input was {data!r}")
            raise


@pytest.mark.parametrize("name", TARGETS)
def test_every_truncation_of_a_seed(name):
    data = min(seeds(name), key=len)
    for end in range(len(data)):
        TARGETS[name](data[:end])
