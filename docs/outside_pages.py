"""What mkdocs cannot do by itself: pages made of files outside of docs/, and use by keyboard.

The pages of this folder link to files elsewhere in the repository, so that they can be read there.
On the site, those of `OUTSIDE` and the examples are pages too; a link to any other file becomes the
name of the file.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
OUTSIDE = {
    "metadb/README.md": "metadb.md",
    "benchmarks/README.md": "benchmarks.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
EXAMPLES = {
    f"examples/{path.name}": f"examples/{path.stem}.md" for path in ROOT.glob("examples/*.py")
}
PAGES = OUTSIDE | EXAMPLES
SOURCES = {page: source for source, page in PAGES.items()}
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made of files outside."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text()
        if source in EXAMPLES:
            text = f"# {source}\n\n```python\n{text}```\n"
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead the links of a page to pages of the site."""
    return for_site(markdown, page.file.src_uri)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let what scrolls sideways be scrolled by keyboard; a heading without words is none."""
    html = html.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">')
    return re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Tell a screen reader what the bar at the top is."""
    return output.replace(
        '<div class="navbar fixed-top', '<div role="navigation" class="navbar fixed-top'
    )


def for_site(markdown: str, page: str) -> str:
    """Return the text of a page with links to the site's pages where it links to files outside."""
    folder = posixpath.dirname(SOURCES.get(page, f"docs/{page}"))

    def led(found: re.Match[str]) -> str:
        text, link, anchor = found[1], found[2], found[3] or ""
        target = posixpath.normpath(posixpath.join(folder, link))
        if not (ROOT / target).exists():
            return found[0]
        inside = PAGES.get(target) or target.removeprefix("docs/")
        if inside == target:
            return text if text.strip("`/") == target else f"{text} (`{target}`)"
        there = posixpath.relpath(inside, posixpath.dirname(page) or ".")
        return f"[{text}]({there}{anchor})"

    return LINK.sub(led, markdown)
