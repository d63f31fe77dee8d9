"""Commands that can use a cluster."""

from collections.abc import Iterator
from contextlib import contextmanager

from mercer._errors import ParameterError
from mercer.cli.terminal.options import ClusterOptions


@contextmanager
def on_cluster(options: ClusterOptions) -> Iterator[None]:
    """Inside this context the named cluster, if any, does the work that can be divided."""
    if options.cluster is None:
        if options.checkpoint is not None:
            raise ParameterError("--checkpoint needs a cluster; name one with --cluster")
        yield
        return
    from mercer.distributed import cluster

    with cluster(options.cluster, checkpoint=options.checkpoint):
        yield
