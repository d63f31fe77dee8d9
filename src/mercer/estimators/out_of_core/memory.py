"""How many blocks are worked on side by side, and how many are kept between passes, so that all fits into a limit."""

import math
from dataclasses import dataclass

from mercer._errors import ParameterError
from mercer._jit.memory import available_bytes, parse_bytes
from mercer._jit.threads import thread_count

# Doubles per row and machine beside the features, most of them during the certificate: measured, 45 bytes for the
# hinge, 30 for its square.
OF_A_ROW = 8
# Copies of a block that exist while it is processed: as read, as features in double precision, a scaled part.
_COPIES = 3.5
# Share of the free memory that kept blocks may use without a limit.
_SHARE = 0.5


@dataclass(frozen=True)
class Plan:
    """Number of blocks processed side by side, and bytes of features that may be kept."""

    n_jobs: int
    kept_bytes: int


def plan(
    sizes: list[int], n_features: int, n_machines: int, n_jobs: int | None, memory_limit: int | str | None
) -> Plan:
    """The plan that fits into `memory_limit`, which bounds what the fit adds to the process; a ParameterError says how
    much would be enough."""
    block = int(_COPIES * 8 * max(sizes) * n_features)
    rows = 8 * OF_A_ROW * sum(sizes) * n_machines
    gram = 2 * 8 * (n_features + 1) ** 2 * n_machines
    if memory_limit is None:
        room = int(_SHARE * available_bytes())
        workers = max(1, min(thread_count(n_jobs), (room - rows) // max(1, block + gram)))
        return Plan(workers, max(0, room - rows - workers * (block + gram)))
    room = parse_bytes(memory_limit) - rows
    if room < block + gram:
        enough = math.ceil((rows + block + gram) / 2**20)
        raise ParameterError(
            f"memory_limit={memory_limit!r} is too little for blocks of {max(sizes):,} rows with {n_features:,} "
            f'features, {sum(sizes):,} rows in all; set memory_limit="{enough}MiB", or make smaller blocks '
            "(block_rows; for Parquet, write smaller row groups)"
        )
    workers = int(min(thread_count(n_jobs), room // (block + gram)))
    return Plan(workers, int(room - workers * (block + gram)))
