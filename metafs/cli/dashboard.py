"""`metafs dashboard`: the page about a memory, live."""

from contextlib import closing
from socket import gethostname

import click

from metafs.cli.app import Sentences
from metafs.cli.options import db_option
from metafs.cli.output import echo_message
from metafs.errors import UsageError
from metafs.memory import MetaDB

EVERYWHERE = ("0.0.0.0", "::")


@click.command(cls=Sentences)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port to listen on; 0 takes any that is free.",
)
@click.option(
    "--token",
    envvar="METAFS_DASHBOARD_TOKEN",
    show_envvar=True,
    help="What visitors must know.  [default: none here, a new one for another --host]",
)
@click.option("--space", help="Only this pool of features.")
@db_option
def dashboard(host: str, port: int, token: str | None, space: str | None, db: str) -> None:
    """Serve the page of `metafs report`, which shows new problems as they are solved.

    It can be asked in SQL too. It reads copies that are made without the lock of the memory, so
    `metafs solve` never waits for it. Only this machine can reach it unless --host names another
    address; then visitors need the token, and the connection is not encrypted. Ctrl-C ends it.

    Example: metafs dashboard --db metafs.duckdb
    """
    try:
        from metafs.dashboard.app import dashboard as application
        from metafs.dashboard.guard import Guard, is_loopback, new_token
        from metafs.dashboard.serving import listen, serve
        from metafs.dashboard.snapshots import Snapshots
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the dashboard needs {error.name}: install it with "
            "pip install 'metafs-automl[dashboard]'."
        ) from None
    if token is not None and not token.isascii():
        raise UsageError("--token has only ASCII characters.")
    if not token:
        token = None if is_loopback(host) else new_token()
    metadb = MetaDB(db)
    metadb.exists()  # refuses what can never be a memory
    listening = listen(host, port)
    port = listening.getsockname()[1]
    with listening:
        name = gethostname() if host in EVERYWHERE else f"[{host}]" if ":" in host else host
        secret = f"?token={token}" if token else ""
        echo_message(f"{db} is shown at http://{name}:{port}/{secret}  (Ctrl-C ends it)")
        if not is_loopback(host):
            echo_message("The connection is not encrypted: use it in a network that you trust.")
        with closing(Snapshots(metadb, space)) as snapshots:
            serve(application(snapshots, Guard(host, port, token)), listening)
