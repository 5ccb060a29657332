"""Who may use the dashboard: its own page, under its own name, with the token where one is needed.

A page of somebody else's that is open in the same browser could send requests here. It cannot
change the name in the address bar's ``Host`` (so a name that was rebound to this machine is
refused), cannot add a header of its own to a form, and does not have the cookie.
"""

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
SAME = ("same-origin", "none")


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a host name or address.

    Examples
    --------
    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0")]
    [True, True, True, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def new_token() -> str:
    """Return a token that cannot be guessed."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Guard:
    """The rules of one dashboard."""

    host: str
    port: int
    token: str | None = field(default=None, repr=False)

    def allows_host(self, header: str) -> bool:
        """Tell whether a ``Host`` header names this server and no name of somebody else's.

        Examples
        --------
        >>> guard = Guard("127.0.0.1", 8000)
        >>> [guard.allows_host(f"{name}:8000") for name in ("localhost", "[::1]", "evil.example")]
        [True, True, False]
        """
        name, port = _split(header)
        if port != self.port:
            return False
        if is_loopback(name):
            return True
        if is_loopback(self.host):
            return False
        try:
            ipaddress.ip_address(name)
            return True  # an address cannot be rebound
        except ValueError:
            return name in {self.host.lower(), socket.gethostname().lower()}

    def knows(self, given: Iterable[str]) -> bool:
        """Tell whether one of these is the token, in a time that tells nothing about it."""
        if self.token is None:
            return True
        token = self.token.encode()
        return any([hmac.compare_digest(each.encode(), token) for each in given])

    @property
    def cookie(self) -> str:
        """The name of the cookie; cookies are shared by all ports of a host."""
        return f"metafs-{self.port}"


def _split(header: str) -> tuple[str, int]:
    name, colon, port = header.lower().rpartition(":")
    if not colon or header.endswith("]"):
        name, port = header.lower(), "80"
    return name.strip("[]").rstrip("."), int(port) if port.isdigit() else -1


class Guarded:
    """An application behind a guard."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app, self._guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse, one request."""
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        answer = self._refusal(scope) or self._app
        await answer(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return why a request is not let in, or the way in after the first visit."""
        guard, headers = self._guard, Headers(scope=scope)
        if not guard.allows_host(headers.get("host", "")):
            return _plain("This server has another name: use the address that metafs printed.", 400)
        if scope["method"] not in ("GET", "HEAD") and not _is_own(headers):
            return _plain("Only the dashboard's own page may ask that.", 403)
        if guard.token is None:
            return None
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if asked and scope["path"] == "/" and guard.knows(asked):
            enter = RedirectResponse("/", 303)
            enter.set_cookie(guard.cookie, guard.token, httponly=True, samesite="lax", path="/")
            return enter
        if guard.knows(_tokens(headers, guard.cookie)):
            return None
        return _plain("The token is missing: use the whole address that metafs printed.", 401)


def _is_own(headers: Headers) -> bool:
    """Tell whether a request that does something comes from the page itself."""
    origin = headers.get("origin")
    return (
        headers.get("x-metafs") is not None
        and headers.get("sec-fetch-site", "same-origin") in SAME
        and (origin is None or origin.partition("://")[2] == headers.get("host"))
    )


def _tokens(headers: Headers, cookie: str) -> list[str]:
    """Return the tokens that a request carries, as cookie or in the header."""
    found = []
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        found.append(value.strip())
    try:
        if morsel := SimpleCookie(headers.get("cookie", "")).get(cookie):
            found.append(morsel.value)
    except CookieError:
        pass
    return found


def _plain(text: str, status: int) -> Response:
    return PlainTextResponse(text + "\n", status)
