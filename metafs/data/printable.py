"""Text for a screen: without what would steer a terminal, measured in columns, and shortened.

Chinese or Japanese characters take two columns of a terminal and combining marks none: rich knows.
"""

import re

ESCAPE_SEQUENCE = re.compile(r"\x1b\[[;?0-9]*[a-zA-Z]")


def printable(text: str) -> str:
    """Return a text without escape codes and other characters that steer a terminal."""
    return "".join(each for each in ESCAPE_SEQUENCE.sub("", text) if each.isprintable())


def printable_lines(text: str) -> str:
    r"""Return a text whose every line is printable; tabs become spaces.

    Examples
    --------
    >>> printable_lines("two\nlines\x1b]0;title\x07")
    'two\nlines]0;title'
    """
    return "\n".join(printable(line.expandtabs()) for line in text.split("\n"))


def one_line(text: str) -> str:
    r"""Return a text on one line, and printable.

    Examples
    --------
    >>> one_line("two\tlines\x1b[31m, no colour")
    'two lines, no colour'
    """
    return printable(" ".join(text.split()))


def n_columns(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    Examples
    --------
    >>> n_columns("name"), n_columns("名前")
    (4, 4)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # costs time that ASCII need not pay

    return cell_len(text)


def shortened(text: str, width: int, *, middle: bool = True) -> str:
    """Return a text of at most so many columns, with an ellipsis in its middle or at its end.

    Examples
    --------
    >>> shortened("customers/north/17", 11), shortened("customers/north/17", 11, middle=False)
    ('custo…th/17', 'customers/…')
    """
    if n_columns(text) <= width:
        return text
    if width < 1:
        return ""
    n_last = (width - 1) // 2 if middle else 0
    return _first(text, width - 1 - n_last) + "…" + _first(text[::-1], n_last)[::-1]


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return a text with the spaces that it lacks of a width, on its left if it goes to the right.

    Examples
    --------
    >>> padded("名", 4) + "|", padded("名", 4, right=True) + "|"
    ('名  |', '  名|')
    """
    spaces = " " * max(0, width - n_columns(text))
    return spaces + text if right else text + spaces


def _first(text: str, width: int) -> str:
    """Return the characters at the start of a text that fit into a width."""
    used = 0
    for place, each in enumerate(text):
        used += n_columns(each)
        if used > width:
            return text[:place]
    return text
