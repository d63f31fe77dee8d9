"""Commands that may have a cluster work for them."""

from collections.abc import Iterator
from contextlib import contextmanager

from mercer._errors import ParameterError
from mercer.cli.terminal.options import ClusterOptions


@contextmanager
def on_cluster(options: ClusterOptions) -> Iterator[None]:
    """In the body, a cluster does what can be divided, where one is named."""
    if options.cluster is None:
        if options.checkpoint is not None:
            raise ParameterError("--checkpoint is for work on a cluster; name it with --cluster")
        yield
        return
    from mercer.distributed import cluster

    with cluster(options.cluster, checkpoint=options.checkpoint):
        yield
