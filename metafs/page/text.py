r"""Text from outside, made safe to show: names of problems and columns may hold anything."""

import json
from typing import Any

MOST = 120
"""Longer names are shortened in the middle."""


def shown(text: str, most: int = MOST) -> str:
    r"""Return a text as a page shows it: of bounded length, invisible characters as escapes.

    What steers the direction of a text is invisible too, so that no name can reorder a line.

    Examples
    --------
    >>> shown("a\u202eb\x00")
    'a\\u202eb\\x00'
    >>> shown("x" * 300, 11)
    'xxxxxx…xxxx'
    """
    if len(text) > most:
        end = (most - 1) * 2 // 5
        text = f"{text[: most - 1 - end]}…{text[len(text) - end :]}"
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _escape(each) for each in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def json_in_page(value: Any) -> str:
    r"""Return compact JSON that can stand inside a page: nothing in it ends a script.

    Examples
    --------
    >>> print(json_in_page({"</script>": "&"}))
    {"\u003c/script\u003e":"\u0026"}
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
