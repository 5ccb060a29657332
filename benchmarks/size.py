"""The size of the product code: modules, lines and public names of each package.

Lines are those of the files, with empty ones, docstrings and comments; of code are the lines that
hold a statement or a part of one. Public names are functions and classes at the top of a module
without a leading underscore.

    python benchmarks/size.py
"""

import ast
import io
import tokenize
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOTS = ("metafs", "plugins", "metadb")
NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def package_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def lines_of_code(text: str) -> int:
    """Return the number of lines with code: neither empty, nor comments, nor docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def public_names(text: str) -> int:
    kinds = (ast.FunctionDef, ast.ClassDef)
    body = ast.parse(text).body
    return sum(isinstance(each, kinds) and not each.name.startswith("_") for each in body)


def main() -> None:
    found: dict[str, list[int]] = {}
    longest = []
    for root in ROOTS:
        for path in sorted((ROOT / root).rglob("*.py")):
            text = path.read_text()
            n_lines = text.count("\n")
            row = (1, n_lines, lines_of_code(text), public_names(text))
            of_package = found.setdefault(package_of(path), [0] * len(row))
            of_package[:] = map(sum, zip(of_package, row, strict=True))
            longest.append((n_lines, str(path.relative_to(ROOT))))
    print("| package | modules | lines | of code | public names |\n|---|--:|--:|--:|--:|")
    for package, row in found.items():
        print(f"| `{package}` | " + " | ".join(f"{each:,}" for each in row) + " |")
    total = map(sum, zip(*found.values(), strict=True))
    print("| together | " + " | ".join(f"{each:,}" for each in total) + " |")
    print("\nThe longest: " + ", ".join(f"{path} {n}" for n, path in sorted(longest)[:-6:-1]))


if __name__ == "__main__":
    main()
