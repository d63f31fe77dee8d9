"""A cluster: found by name, checked, and made active."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any

from mercer._errors import ClusterError, MissingExtraError, ParameterError
from mercer._jit.threads import Stopped
from mercer.distributed.checkpoint import Checkpoint
from mercer.solvers.elsewhere import in_force, workers_in_force

if TYPE_CHECKING:
    from distributed import Client, Future
    from distributed.security import Security

    from mercer.distributed.crew import Crew
    from mercer.distributed.waiting import Patience

# Seconds within which a scheduler must accept a connection.
CONNECT = 10.0


@contextmanager
def cluster(
    address: "str | Client | Any | None" = None,
    *,
    checkpoint: str | PathLike[str] | None = None,
    patience: float = 60.0,
    security: "Security | None" = None,
) -> Iterator["Crew"]:
    """In the body of ``with``, a `dask.distributed` cluster does the work that can be divided.

    That is: the blocks of linear and low-rank machines, the kernels and folds of `SVCCV`, `SVRCV` and of
    ``method="cv"`` of machines with several kernels, and what `mercer.distributed` itself offers. Everything else is
    done here, as usual. Answers are bit for bit the same, however many workers there are and whichever of them die.

    Parameters
    ----------
    address : str, distributed.Client or a cluster of Dask's, optional
        Where the scheduler is, such as ``"tcp://10.0.0.1:8786"`` or ``"tls://…"``; a connected client; or a cluster
        such as `LocalCluster`. By default the current client of this process.
    checkpoint : str or path, optional
        A file for fits over blocks and for searches, written as a whole after steps and tasks. A fit of the same
        problem continues from it to the same bits, whatever ended the last one; a body that ends without an error
        removes it.
    patience : float, default=60.0
        Seconds to wait for a worker if there is none, and for a scheduler that does not answer.
    security : distributed.Security, optional
        Certificates for ``tls://``; by default those of Dask's configuration.

    Yields
    ------
    Crew
        The workers.

    Examples
    --------
    >>> import numpy as np
    >>> from distributed import LocalCluster
    >>> from mercer import SVCCV, distributed
    >>> X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    >>> with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as local:
    ...     with distributed.cluster(local):
    ...         model = SVCCV(Cs=[1.0], gammas=[0.5, 1.0]).fit(X, y)
    >>> model.n_splits_
    5
    """
    if not patience > 0:
        raise ParameterError(f"patience must be positive, got {patience!r}")
    keeper = None if checkpoint is None else Checkpoint(checkpoint)
    client, is_ours = _client(address, security)
    try:
        crew = _checked(client, patience, keeper)
        with in_force(crew, keeper):
            yield crew
        if keeper is not None:
            keeper.remove()
    finally:
        if is_ours:
            _close(client)


def crew_in_force() -> "Crew":
    """The active cluster, for work that needs one."""
    from mercer.distributed.crew import Crew

    found = workers_in_force()
    if not isinstance(found, Crew):
        raise ClusterError("no cluster is active: call this inside `with mercer.distributed.cluster(address):`")
    return found


def _client(address: Any, security: Any) -> "tuple[Client, bool]":
    """(a client, whether it is to be closed when it is no longer needed)."""
    try:
        from distributed import Client, get_client
        from distributed.comm.addressing import parse_address, parse_host_port
    except ImportError as error:
        raise MissingExtraError("a cluster needs the package distributed: pip install 'mercer[dask]'") from error
    if isinstance(address, Client):
        return address, False
    if address is None:
        try:
            return get_client(), False
        except ValueError:
            raise ClusterError(
                "there is no client of dask.distributed in this process: give the scheduler's address"
            ) from None
    more = {} if security is None else {"security": security}
    try:
        if isinstance(address, str):
            # A client that finds this out by itself lingers, and complains.
            parse_host_port(parse_address(address)[1])
        return Client(address, timeout=CONNECT, set_as_default=False, **more), True
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        told = address if isinstance(address, str) else type(address).__name__
        raise ClusterError(
            f"no scheduler of dask.distributed answers at {told}: {error}. Start one with `dask scheduler` and workers "
            "with `dask worker`, or check the address, the port and the certificates"
        ) from error


def _close(client: "Client") -> None:
    """Release a client, whatever became of its scheduler."""
    with contextlib.suppress(OSError, TimeoutError, RuntimeError):
        client.close(timeout=CONNECT)


def _checked(client: "Client", patience: float, keeper: Checkpoint | None) -> "Crew":
    """The workers, once each of them has said which Mercer it has."""
    from mercer.distributed.crew import Crew
    from mercer.distributed.task import SAME_EVERYWHERE, mercer_here, told
    from mercer.distributed.waiting import Patience

    def advice() -> str:
        return f". It will continue from {str(keeper.path)!r}" if keeper is not None and keeper.is_there else ""

    waited = Patience(client, patience, advice)
    crew = Crew(client, waited)
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        raise ClusterError(
            f"the cluster at {client.scheduler.address} still has no worker after {patience:g} s: start one"
        ) from None
    names = {address: worker["name"] for address, worker in client.scheduler_info()["workers"].items()}
    asked = {address: client.submit(_asks(), workers=[address], pure=False) for address in names}
    found = {address: _answer(waited, address, future) for address, future in asked.items()}
    others = [(address, each) for address, each in found.items() if each not in (mercer_here(), _GONE)]
    if others:
        listed = "; ".join(f"worker {address} ({names[address]}) has {told(each)}" for address, each in others)
        raise ClusterError(f"{listed}. This process has {told(mercer_here())}: {SAME_EVERYWHERE}")
    return crew


def _answer(waited: "Patience", address: str, asked: "Future[Any]") -> Any:
    """What one worker says; nothing if it has died since: its successor is asked by its first task."""
    try:
        (found,) = waited.in_order(1, lambda _: [asked], lambda: waited.is_gone(address), lambda _: f"worker {address}")
    except Stopped:
        return _GONE
    return found


_GONE = object()


def _asks() -> Callable[[], Any]:
    """A function sent to a worker as its text, so that one without Mercer, or with an old one, can run it too."""

    def mercer_there() -> Any:
        try:
            from mercer import __version__
            from mercer._jit.cache import source_digest

            return __version__, source_digest()
        except ImportError:
            try:
                return __version__, "unknown"
            except NameError:
                return None

    return mercer_there
