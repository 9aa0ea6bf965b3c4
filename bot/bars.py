"""The figures of a period as an SVG bar chart for the page, with the numbers beside the bars.

Accepted shares are hatched and the rest is empty, so that the bars are readable without colour. The chart follows the
reader's light or dark mode and contains no script.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from bot.stats import Figures, Share
from bot.translation import _, day
from bot.wording import GROUP_WORDS, INTENT_NAMES

WIDTH = 640
LABEL = 190
BAR = 300
ROW = 26
TOP = 12
HEADING = 30
STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#17211f}.head{font-weight:600}"
    ".frame{fill:none;stroke:#7a8884}.line{stroke:#1f6468;stroke-width:3}"
    "@media(prefers-color-scheme:dark){text{fill:#e6ecea}.frame{stroke:#82928d}.line{stroke:#72c3c2}}"
)
HATCH = (
    '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<line class="line" x1="0" y1="0" x2="0" y2="6"/></pattern>'
)


def bars(totals: Figures) -> str:
    """Return the chart of drafts accepted by group and by intent."""
    sections = [
        (_("Accepted by group"), [(GROUP_WORDS[group], share) for group, share in totals.by_group.items()]),
        (_("Accepted by intent"), [(INTENT_NAMES[intent], share) for intent, share in totals.by_intent.items()]),
    ]
    parts: list[str] = []
    y = TOP
    for heading, rows in sections:
        parts.append(f'<text class="head" x="0" y="{y + 14}">{escape(heading)}</text>')
        y += HEADING
        for name, share in rows:
            parts.append(_row(name, share, y))
            y += ROW
        y += TOP
    title = escape(_("Drafts accepted since {day}", day=day(totals.since)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}" role="img">'
        f"<title>{title}</title><style>{STYLE}</style><defs>{HATCH}</defs>{''.join(parts)}</svg>"
    )


def _row(name: str, share: Share, y: int) -> str:
    filled = round(BAR * share.rate)
    return (
        f'<text x="0" y="{y + 14}">{escape(name)}</text>'
        f'<rect class="frame" x="{LABEL}" y="{y + 2}" width="{BAR}" height="15"/>'
        f'<rect x="{LABEL}" y="{y + 2}" width="{filled}" height="15" fill="url(#hatch)"/>'
        f'<text x="{LABEL + BAR + 12}" y="{y + 14}">{escape(share.words)}</text>'
    )
