"""Serve a dashboard until Ctrl-C."""

import os
import socket
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from metafs.errors import MetafsError

CONNECTIONS = 64
GRACE_S = 2
NICEST = 19
"""Whatever else runs comes first: a stream on the same processor loses less than 2 %."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen()
        except OSError:
            listening.close()
            raise
    except (OSError, OverflowError) as error:
        raise MetafsError(
            f"cannot listen on {host} port {port}: {getattr(error, 'strerror', None) or error}, "
            "give another --host or --port."
        ) from error
    return listening


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Answer requests until Ctrl-C."""
    with suppress(AttributeError, OSError):  # not on Windows
        os.nice(NICEST)
    config = uvicorn.Config(
        app,
        log_level="error",
        lifespan="off",
        ws="none",
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=GRACE_S,
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
