"""`rejoinder train rank`: learn from verdicts which sentences on file moderators approve."""

from __future__ import annotations

import hashlib
from pathlib import Path

import click

from core.errors import BadInput
from core.settings import Settings
from rejoinder.commands.extras import needs_extra
from rejoinder.commands.process import load_settings


@click.command()
@click.argument("pairs", type=click.Path(file_okay=False, exists=True, path_type=Path))
@click.option("--name", default="moderators", show_default=True, help="Name of what is learned.")
@click.option("--min-raters", type=click.IntRange(1), default=3, show_default=True, help="Least number of moderators.")
@click.option("--replace", is_flag=True, help="Overwrite a ranker of this name.")
def rank(pairs: Path, name: str, min_raters: int, replace: bool) -> None:
    """Learn from the verdicts in PAIRS which claims, counter-claims and facts moderators approve.

    PAIRS is a folder that `rejoinder train pairs` wrote. What was learned serves only once `kb.ranker` names it.
    """
    if not name.replace("-", "").replace("_", "").isalnum():
        raise click.UsageError("--name may have letters, digits, `-` and `_`")
    settings = load_settings()
    with needs_extra("dev"):
        card = learn(settings, pairs, name, min_raters, replace)
    click.echo(card)
    click.echo(f"Read the card. To rank by it, set REJOINDER_KB__RANKER={name} and start the workers again.")


def learn(settings: Settings, pairs: Path, name: str, least_raters: int, replace: bool) -> str:
    """Train a ranker, store it with its card in the data folder, and return the card.

    Raises BadInput for verdicts of too few moderators, verdicts that are all alike, and a name that is taken.
    """
    from core.private_files import private_folder
    from kb.claims.loading import load_claims
    from kb.claims.ranking import CARD, FOLDER, Weights, names_on_file, save_ranker
    from training.decisions.gathering import require_raters
    from training.decisions.records import VERDICTS, Verdict, read_lines
    from training.ranking.card import ranker_card
    from training.ranking.fit import fit, judged_parts, measure

    if name in names_on_file(settings.data_dir) and not replace:
        raise BadInput(f"A ranker {name!r} is on file already. Give another --name, or --replace.")
    verdicts = read_lines(pairs / VERDICTS, Verdict)
    raters = {verdict.rater for verdict in verdicts}
    require_raters(raters, least_raters)
    parts = judged_parts(verdicts, load_claims(settings.kb.claims))
    weights = fit(parts)
    if not weights:
        raise BadInput(f"Nothing can be learned from {pairs}: it needs drafts in words on file, approved and not.")
    folder = settings.data_dir / FOLDER / name
    private_folder(folder)
    learned_from = hashlib.sha256((pairs / VERDICTS).read_bytes()).hexdigest()
    path = save_ranker(folder, Weights(learned_from=learned_from, weights=weights))
    digests = (learned_from, hashlib.sha256(path.read_bytes()).hexdigest())
    card = ranker_card(name, [measure(part) for part in parts], weights, len(raters), digests)
    (folder / CARD).write_text(card, encoding="utf-8")
    return card
