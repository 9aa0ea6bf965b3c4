"""All metrics, each with its meaning and what to do about it."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

FLAGS_ACCEPTED = Counter("rejoinder_flags_accepted_total", "Flags the broker has acknowledged through the gateway.")
"""Flat although the platform sends flags: check the gateway's log and the broker."""

FLAGS_REJECTED = Counter("rejoinder_flags_rejected_total", "Flags refused by the gateway as malformed.")
"""Rising: the platform's flags do not match the contract; the gateway's answers give the reasons."""

HANDLED = Counter("rejoinder_messages_handled_total", "Messages a stage has finished.", ["stage"])
"""Flat while the stage's topic has lag: the stage hangs; liveness restarts its worker, by default after 80 minutes
on one message."""

WORKING = Gauge("rejoinder_working_seconds", "Seconds for which a worker has worked on the message that takes longest.")
"""Above a few minutes: a stage hangs, or its model is very slow; the worker's log names the message. Restart it."""

RETRIED = Counter("rejoinder_messages_retried_total", "Tries that failed and were made again.", ["stage", "error"])
"""Rising: the component that `error` names is unavailable. Messages wait for broker, ledger and embedding server as
long as it takes; for another model, only a few tries."""

DEAD_LETTERS = Counter("rejoinder_dead_letters_total", "Messages sent to dead letters.", ["stage"])
"""Above zero: `rejoinder dead-letters list` gives the reasons; fix the cause, then replay."""

UNREADABLE = Counter(
    "rejoinder_unreadable_batches_total", "Batches of records left out because they can't be read.", ["topic"]
)
"""Above zero: flags or results may be lost; the log gives topic, partition, offsets and the reason. Each reader of the
topic counts a batch once more."""

STAGE_SECONDS = Histogram(
    "rejoinder_stage_seconds",
    "Seconds a stage worked on one message.",
    ["stage"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120),
)
"""Rising for `draft`: the model server lacks cores or slots."""

CHAT_SERVER_HANGS = Counter("rejoinder_chat_server_hangs_total", "Chat servers that were ended because they hung.")
"""Rising: the engine keeps hanging on this machine. Check the end of `chat-server.log`; try another version of the
engine."""

PUBLISHED = Counter("rejoinder_published_total", "Messages the outbox has published.", ["topic"])
"""Flat while `rejoinder_outbox_backlog` grows: the broker rejects messages. Both missing: no desk process runs."""

OUTBOX_BACKLOG = Gauge("rejoinder_outbox_backlog", "Outbox rows that are due and not yet published, tried or not.")
"""Above zero for minutes: replies, outcomes and redrafts are not being published; check broker and ledger."""

OUTBOX_OLDEST = Gauge("rejoinder_outbox_oldest_seconds", "Seconds for which the oldest such row has been due.")
"""Growing: one row keeps failing; the desk's log gives the reason."""

CASES = Gauge("rejoinder_cases", "Cases by state.", ["state"])
"""`pending` growing: moderators can't keep up with the flags. `failed` above zero: check the dead letters."""

BEHIND = Gauge("rejoinder_behind_seconds", "Age of the oldest message that workers have not read.", ["topic"])
"""Measured at every sweep. Rising: workers can't keep up with the flags, or none is running. Messages lost from this
topic are sent again only once workers have caught up."""

RESENT = Counter("rejoinder_cases_resent_total", "Unfinished cases the sweeper sent again.", ["state"])
"""Steadily rising: a stage loses messages or can't finish them; check its worker."""
