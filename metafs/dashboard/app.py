"""The dashboard's answers: the page, its data, and queries."""

import json
import threading
from html import escape

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from metafs.dashboard.guard import Guard, Guarded
from metafs.dashboard.snapshots import Snapshots
from metafs.memory import MetaDBError

LONGEST_QUERY = 20_000
QUERIES_AT_ONCE = 2
WAITING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="3">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<meta name="color-scheme" content="light dark"><title>metafs</title></head>
<body><main><h1>Waiting for a memory</h1><p>{reason}</p><p>The page looks again every three seconds.
</p></main></body></html>
"""


def dashboard(snapshots: Snapshots, guard: Guard) -> ASGIApp:
    """Return the application that serves a memory."""
    turns = threading.BoundedSemaphore(QUERIES_AT_ONCE)

    def home(request: Request) -> Response:
        try:
            return HTMLResponse(snapshots.latest().html)
        except MetaDBError as error:
            return HTMLResponse(WAITING.format(reason=escape(str(error))))

    def data(request: Request) -> Response:
        try:
            latest = snapshots.latest()
        except MetaDBError as error:
            return JSONResponse({"error": str(error)}, 503)
        tag = {"ETag": f'"{latest.tag}"'}
        if request.headers.get("if-none-match") == tag["ETag"]:
            return Response(status_code=304, headers=tag)
        return Response(latest.json, media_type="application/json", headers=tag)

    async def sql(request: Request) -> Response:
        query = await _query(request)
        if isinstance(query, Response):
            return query
        return await run_in_threadpool(answer, query)

    def answer(query: str) -> Response:
        if not turns.acquire(blocking=False):
            return _refused("other queries are running: try again when they are done", 429)
        try:
            return JSONResponse(snapshots.ask(query))
        except MetaDBError as error:
            return _refused(str(error), 400)
        finally:
            turns.release()

    routes = [Route("/", home), Route("/data", data), Route("/sql", sql, methods=["POST"])]
    return Guarded(Starlette(routes=routes), guard)


async def _query(request: Request) -> str | Response:
    """Return the query of a request, or why there is none."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        return _refused('send {"query": "select ..."} as application/json', 415)
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_QUERY:
            return _refused(f"a query has at most {LONGEST_QUERY:,} bytes", 413)
    try:
        query = json.loads(body)["query"]
    except (ValueError, KeyError, TypeError):
        query = None
    if not isinstance(query, str) or not query.strip():
        return _refused('send {"query": "select ..."} as application/json', 400)
    return query


def _refused(sentence: str, status: int) -> Response:
    return JSONResponse({"error": sentence}, status)
