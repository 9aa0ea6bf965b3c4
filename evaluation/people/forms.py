"""Write forms for raters: one HTML page that works offline and keeps what was entered, and the same as CSV.

Neither says which system wrote what; `key.json`, which stays with the researcher, does.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from jinja2 import Environment, PackageLoader, select_autoescape

from core.errors import BadInput
from core.spreadsheets import without_formula
from evaluation.people.questions import QUESTIONS
from evaluation.run import RunFolder

CHECK_EVERY = 10
"""Replies after which an attention check comes."""
CHECK_TEXT = "This is no reply but a check that you are reading: please choose the highest answer everywhere."


@dataclass(frozen=True)
class FormItem:
    """One reply to rate under its post; the number says nothing of who wrote it."""

    id: str
    post: str
    reply: str


def write_forms(run: RunFolder, posts: int) -> tuple[Path, Path]:
    """Write form and key into the run's `people` folder, for all systems' replies to up to `posts` posts.

    The posts are drawn by the run's seed from those that all systems answered. Returns the HTML and the CSV file;
    raises BadInput when no post was answered by every system.
    """
    seed = run.manifest().seed
    items, key = _items(run, posts, Random(seed))
    folder = run.path / "people"
    folder.mkdir(exist_ok=True)
    run.write_json("people/key.json", key)
    html, sheet = folder / "form.html", folder / "form.csv"
    environment = Environment(loader=PackageLoader("evaluation.people"), autoescape=select_autoescape())
    html.write_text(
        environment.get_template("form.html").render(
            items=[asdict(item) for item in items], questions=[asdict(question) for question in QUESTIONS]
        ),
        encoding="utf-8",
    )
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["rater", "item", "post", "reply", *(question.name for question in QUESTIONS)])
        for item in items:
            writer.writerow(
                ["", item.id, without_formula(item.post), without_formula(item.reply), *("" for _ in QUESTIONS)]
            )
    return html, sheet


def _items(run: RunFolder, count: int, chance: Random) -> tuple[list[FormItem], dict[str, dict[str, str]]]:
    """Return what is rated, in an order that chance made, and which draft each number stands for."""
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for draft in run.drafts():
        if draft.text:
            texts[draft.post_id][draft.system] = draft.text
    systems = {system for answers in texts.values() for system in answers}
    complete = sorted(post for post, answers in texts.items() if len(answers) == len(systems))
    if not complete:
        raise BadInput(f"{run.path} has no post that all its systems answered, so there is nothing to compare.")
    chosen = chance.sample(complete, min(count, len(complete)))
    pairs = [(post, system) for post in chosen for system in sorted(systems)]
    chance.shuffle(pairs)
    posts = run.posts()
    items: list[FormItem] = []
    key: dict[str, dict[str, str]] = {}
    for number, (post, system) in enumerate(pairs, 1):
        name = f"{chance.getrandbits(32):08x}"
        items.append(FormItem(name, posts[post].text, texts[post][system]))
        key[name] = {"post_id": post, "system": system}
        if number % CHECK_EVERY == 0 or number == len(pairs):
            check = f"{chance.getrandbits(32):08x}"
            items.append(FormItem(check, posts[post].text, CHECK_TEXT))
            key[check] = {"check": "highest"}
    return items, key


def read_key(run: RunFolder) -> dict[str, dict[str, str]]:
    """Return which draft each number stands for; raises BadInput where no forms were written."""
    path = run.path / "people" / "key.json"
    if not path.exists():
        raise BadInput(f"{run.path} has no forms; write them with `rejoinder evaluate people {run.path}`.")
    return run.read_json("people/key.json")
