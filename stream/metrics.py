"""Every metric, with what it means and what to do about it."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

FLAGS_ACCEPTED = Counter("rejoinder_flags_accepted_total", "Flags the broker has acknowledged through the gateway.")
"""Flat while the platform flags: look at the gateway's log and the broker."""

FLAGS_REJECTED = Counter("rejoinder_flags_rejected_total", "Flags refused by the gateway as malformed.")
"""Rising: the platform sends something else than the contract; the answers it got say what."""

HANDLED = Counter("rejoinder_messages_handled_total", "Messages a stage has finished.", ["stage"])
"""Flat with lag on the stage's topic: the stage hangs; its worker should have been restarted by liveness."""

RETRIED = Counter("rejoinder_messages_retried_total", "Tries that failed and were made again.", ["stage", "error"])
"""Rising: the part named by `error` is away. Messages wait for broker, ledger and the
embedding server; for another model only a few tries."""

DEAD_LETTERS = Counter("rejoinder_dead_letters_total", "Messages sent to dead letters.", ["stage"])
"""Any: `rejoinder dead-letters list` says why; replay after the cause is mended."""

STAGE_SECONDS = Histogram(
    "rejoinder_stage_seconds",
    "Seconds a stage worked on one message.",
    ["stage"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120),
)
"""`draft` rising: the model server is short of cores or slots."""

CHAT_SERVER_HANGS = Counter("rejoinder_chat_server_hangs_total", "Chat servers that were ended because they hung.")
"""Rising: the engine hangs again and again on this machine; the end of `chat-server.log`, another version of it."""

PUBLISHED = Counter("rejoinder_published_total", "Messages the outbox has published.", ["topic"])
"""Flat while `rejoinder_outbox_backlog` grows: the broker refuses, or no desk process runs."""

OUTBOX_BACKLOG = Gauge("rejoinder_outbox_backlog", "Outbox rows that are due and not yet published, tried or not.")
"""Above zero for minutes: approved replies are not leaving; look at the broker."""

OUTBOX_OLDEST = Gauge("rejoinder_outbox_oldest_seconds", "Seconds for which the oldest such row has been due.")
"""Growing: the same row is tried in vain; the desk's log says why."""

CASES = Gauge("rejoinder_cases", "Cases by state.", ["state"])
"""`pending` growing: more moderators or fewer flags; `failed` above zero: look at dead letters."""

BEHIND = Gauge("rejoinder_behind_seconds", "Age of the oldest message that workers have not read.", ["topic"])
"""Measured at every sweep. Rising: more flags than workers get through, or none run; what was lost from that topic is
sent again only when they have caught up."""

RESENT = Counter("rejoinder_cases_resent_total", "Unfinished cases the sweeper sent again.", ["state"])
"""Steadily rising: a stage loses or cannot finish messages; look at its worker."""
