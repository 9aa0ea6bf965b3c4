"""Put a report together and write it, as one self-contained HTML page and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape
from pathlib import Path

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup

from evaluation.report import plots, tables
from evaluation.report.data import ScoredRun
from evaluation.report.document import Case, Section, Table
from evaluation.report.judged import judged
from evaluation.report.rated import rated
from evaluation.report.worst import worst
from evaluation.run import RunFolder

INPUTS = ("manifest.json", "posts.jsonl", "drafts.jsonl", "scores.jsonl", "scores.json", "judge.json", "people.json")


def write(run: RunFolder) -> tuple[Path, Path]:
    """Write `report.html` and `report.md` and return their paths; the same run gives the same bytes.

    Raises BadInput if the run was not scored yet.
    """
    scored = ScoredRun.load(run)
    sections = [
        section
        for section in (
            tables.systems(scored),
            tables.layouts(scored),
            plots.plots(scored),
            tables.by_language(scored),
            tables.tests(scored),
            judged(run),
            rated(run),
            worst(scored),
            tables.meanings(scored),
            inputs(run),
        )
        if section is not None
    ]
    manifest = run.manifest()
    title = f"{manifest.posts} posts, {len(scored.names)} systems"
    html, markdown = run.path / "report.html", run.path / "report.md"
    html.write_text(_as_html(title, sections), encoding="utf-8")
    markdown.write_text("\n".join(_as_markdown(title, sections)), encoding="utf-8")
    return html, markdown


def inputs(run: RunFolder) -> Section:
    """Return the section on what the figures come from: the run's files with digests, models, prompts and versions."""
    manifest = run.manifest()
    paths = [run.path / name for name in INPUTS if (run.path / name).exists()]
    files = Table(("file", "SHA-256"), tuple((path.name, _digest(path)) for path in paths), "the run folder")
    parts = Table(
        ("part", "version or digest"),
        (
            ("begun", manifest.started_at.isoformat(timespec="seconds")),
            ("seed", str(manifest.seed)),
            *((f"{metric} by", by) for metric, by in sorted(manifest.scored_by.items())),
            *sorted(manifest.versions.items()),
            *((f"pipeline/data/{name}", digest) for name, digest in sorted(manifest.prompts.items())),
        ),
        "manifest.json",
    )
    text = ("Every figure above is in, or counted from, the file named under its table.",)
    return Section("What this was made from", text, (files, parts))


def _digest(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _as_html(title: str, sections: Iterable[Section]) -> str:
    environment = Environment(loader=PackageLoader("evaluation.report"), autoescape=select_autoescape())
    template = environment.get_template("report.html")
    return template.render(title=title, sections=list(sections), drawn=lambda figure: Markup(figure.svg))  # noqa: S704


def _as_markdown(title: str, sections: Iterable[Section]) -> Iterator[str]:
    yield f"# Evaluation: {title}\n"
    for section in sections:
        yield f"## {section.title}\n"
        yield from (f"{_plain(paragraph)}\n" for paragraph in section.text)
        for table in section.tables:
            yield from _markdown_table(table)
        yield from (f"*{figure.caption} The drawing is in report.html.*\n" for figure in section.figures)
        for case in section.cases:
            yield from _markdown_case(case)


def _markdown_table(table: Table) -> Iterator[str]:
    yield f"| {' | '.join(map(_plain, table.header))} |"
    yield f"|---|{'---:|' * (len(table.header) - 1)}"
    yield from (f"| {' | '.join(map(_plain, row))} |" for row in table.rows)
    yield f"\nFrom {table.source}.\n"


def _markdown_case(case: Case) -> Iterator[str]:
    yield f"- **{_plain(case.title)}** {_plain(case.remark)}"
    yield f"  <details><summary>the post</summary>{_plain(case.post)}</details>"
    yield f"  {_plain(case.draft) or '(empty)'}\n"


def _plain(text: str) -> str:
    """Return a text on one line, escaped for Markdown and HTML."""
    # HTML's characters need entities: within <details>, Markdown's backslash escapes have no effect.
    return re.sub(r"([\\`*_|\[\]#])", r"\\\1", escape(" ".join(text.split()), quote=False))
