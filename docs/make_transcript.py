"""Run the command on five kinds of data and write docs/transcript.md from what it prints.

    python docs/make_transcript.py            write the page
    python docs/make_transcript.py --check    say whether the page is what the commands print now

Times, dates and versions differ from run to run and are left out of the comparison.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).with_name("transcript.md")
CLIENTS = 'seq 60 | awk \'{ print "K" 1000+$1 ";;€ " $1%9 ",50;p" $1%4 ";" ($1%9>4 ? "yes" : "no") }\' >> clients.csv'
SECTIONS = (
    ("From a clone", "Python 3.11 or newer and make are all it needs; the first command sets up the rest in `.venv`.", (
        ("cd mercer\n$ make demo\n$ . .venv/bin/activate", None),
        ("mercer demo --output demo", ...),
    )),
    ("Rows of numbers", "Handwritten digits, a column for each pixel; a fifth of the rows is held out.", (
        ("mercer train demo/data/digits.csv --target digit --kernel rbf --C 10 --report digits.html", ...),
        ("mercer evaluate digits.mercer demo/data/digits.csv", ...),
        ("mercer convert digits.mercer digits.onnx", ...),
        ("head -3 demo/data/digits.csv | mercer predict digits.mercer -", ...),
    )),
    ("What it understood", "What a table holds is said before anything is learnt: an id, an empty column, prices.", (
        ("printf 'customer_id;fax;fee;plan;leaves\\n' > clients.csv", ...),
        (CLIENTS, ...),
        ("sed -i '2,3s/no$//' clients.csv; head -4 clients.csv", ...),
        ("mercer describe clients.csv", ...),
        ("mercer train clients.csv -t leaves; echo exit code $?", ...),
        ("mercer train clients.csv -t leaves --skip-unlabeled --proba -o leaves.mercer", ...),
        ("mercer predict leaves.mercer clients.csv --keep customer_id --proba | head -4", ...),
    )),
    ("Texts", "Notes of three people, a folder for each. The words that spoke for a decision can be asked for.", (
        ("mercer train demo/data/notes --C 10", ...),
        ("mercer inspect notes.mercer demo/data/notes --row 4", ...),
    )),
    ("A table of everything", "Dates, numbers, names and remarks, some of them missing: a kernel for each column.", (
        ("mercer tune demo/data/ferries.csv --target late --output late.mercer", ...),
        ("mercer inspect late.mercer", ...),
        ("mercer inspect late.mercer demo/data/ferries.csv --row 3", ...),
    )),
    ("Trees", "Sentences in brackets, in the active or in the passive voice.", (
        ("head -2 demo/data/sentences.trees", ...),
        ("mercer train demo/data/sentences.trees --kernel 'partial_tree(decay=0.6).normalized()' --cv 5", ...),
    )),
    ("Graphs", "Rings of five or six nodes with tails, in the format of the TU Dortmund collection.", (
        ("mercer train demo/data/rings --C 10 --json | grep -E '\"(accuracy|n_support|status|relative_gap)\"'", ...),
        ("mercer evaluate rings.mercer demo/data/rings", ...),
    )),
    ("Other tools", "Sparse rows, and a model that LIBSVM reads. What cannot be said there is said here.", (
        ("seq 60 | awk '{ s = 1 - 2 * ($1 % 2); print s, \"1:\" $1 % 7, \"3:\" s / 2 + $1 / 99 }' > points.svm", ...),
        ("mercer train points.svm --no-scale --kernel 'rbf(gamma=0.5)' --json | grep '\"accuracy\"'", ...),
        ("mercer convert points.mercer points.libsvm && head -7 points.libsvm", ...),
        ("mercer compare points.svm --no-scale --solver smo --solver qp --json | grep '\"spread\"'", ...),
    )),
    ("When something is wrong", "One line says what, and the exit code says of what kind: 2 usage, 3 data.", (
        ("mercer train demo/data/ferries.csv --target lat; echo exit code $?", ...),
        ("mercer train demo/data/ferries.csv --target late --kernel rfb; echo exit code $?", ...),
        ("printf 'a,b\\n1,2\\n3\\n' | mercer train - --target b; echo exit code $?", ...),
        ("printf 'wind,route\\n3,Holm\\n' | mercer predict late.mercer -; echo exit code $?", ...),
    )),
)  # fmt: skip
HEAD = """# A transcript

From a fresh clone to models that are trained, evaluated, inspected and converted, on five kinds of data.
Every line below was printed by the command above it: `python docs/make_transcript.py` runs them all and writes
this page, and a test compares it with what they print now. [The command](command.md) explains the options.
"""


def main():
    """Write the page, or compare it."""
    with tempfile.TemporaryDirectory() as folder:
        page = HEAD + "".join(_section(*section, Path(folder)) for section in SECTIONS)
    if "--check" not in sys.argv:
        PAGE.write_text(page, encoding="utf-8")
        return 0
    return 0 if comparable(page) == comparable(PAGE.read_text(encoding="utf-8")) else 1


def _section(title, words, commands, folder):
    blocks = []
    for command, run in commands:
        said = "" if run is None else _output(command, folder)
        blocks.append(f"```console\n$ {command}\n{said}```\n")
    return f"\n## {title}\n\n{words}\n\n" + "\n".join(blocks)


def _output(command, folder):
    """What a command prints, both streams as a terminal would show them."""
    shell = f'mercer() {{ "{sys.executable}" -c "from mercer.cli import main; main()" "$@"; }}\n'
    settings = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "SOURCE_DATE_EPOCH": "1767225600"}
    done = subprocess.run(  # noqa: S603 - our own commands, above
        ["/bin/bash", "-c", shell + command], cwd=folder, env={**os.environ, **settings}, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    lines = [line.rstrip() for line in done.stdout.splitlines() if not line.startswith("mercer: compiling")]
    return "".join(f"{line}\n" for line in lines)


def comparable(page):
    """The page without what may differ: times, and the last digits of numbers."""
    page = re.sub(r"^ *(time to .*|written .*)$", "", page, flags=re.MULTILINE)
    page = re.sub(r" in [\d.]+ s\b", "", page)
    page = re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", _rounded, page)
    return re.sub(r"\s+", " ", page)


def _rounded(found):
    value = float(found[0])
    return "tiny" if abs(value) < 1e-4 and "e" in found[0] else f"{value:.2g}"


if __name__ == "__main__":
    sys.exit(main())
