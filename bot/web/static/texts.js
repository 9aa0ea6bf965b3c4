// What the page says by itself beside its templates, in one place: who translates it looks here and into the templates.

const posts = (number) => (number === 1 ? "1 post" : `${number} posts`);

export const TEXTS = {
  lost: "The server can't be reached; what stands here may be old.",
  figures: {
    none: "Nothing was decided in this time.",
    picture: "Bars: how many of the drafts were accepted, by group and by intent",
  },
  today: {
    nothing: "Nothing.",
    opened: "Today",
    waiting: ({ waiting, doubtful }) => `${posts(waiting)} waiting, ${doubtful} of them in doubt`,
    appealed: (number) => `appeals: ${number}`,
    unhandled: (number) => `escalated and not handled: ${number}`,
    load: ({ held, assigned }) => [held && `holds ${held}`, assigned && `was assigned ${assigned}`].filter(Boolean).join(", "),
    noSurge: "Posts come at their usual pace.",
    everything: "everything",
    clear: "Clear",
    noIntent: "None: each draft has the desk's own intent.",
    setBy: (who) => `set by ${who}`,
    inChat: (surface) => `on ${surface}`,
    paused: (who) => `paused by ${who}`,
    muted: (who) => `muted by ${who}`,
    open: "gets its cards",
    pause: "Pause",
    resume: "Resume",
    sample: "sample",
  },
  queue: {
    hidden: (number) => `; ${number === 1 ? "1 group" : `${number} groups`} hidden`,
    first: "No post has come in yet.",
    firstWords: "This desk works, and it is empty: the first flagged post appears here by itself.",
    nothingForYou: "Nothing waits for you.",
    hiddenWords: (groups) => `You hide posts against ${groups}; they wait for others. Settings shows them again.`,
  },
  care: {
    limit: (number) => `You have looked at ${posts(number)} within an hour, as many as you wished for. You have done a lot; the rest can wait a little.`,
    worked: (minutes) => `You have worked for ${minutes} minutes. A short break is part of the work.`,
    left: (minutes, seconds) => `${minutes}:${String(seconds).padStart(2, "0")}`,
    over: "The break is over. Go on when you are ready.",
    saved: "Saved.",
  },
  evidence: {
    searching: "Searching; this takes some seconds…",
    none: "Nothing fits. Try other words, or every group.",
    found: (number) => (number === 1 ? "1 statement found." : `${number} statements found.`),
    use: "Use this one",
    known: "This case has it already",
    inserted: "It is in your text, and stands first among the evidence.",
    added: "It stands first among the evidence: ask for another draft (d), or write with it (e).",
  },
  tour: {
    sum: (step, steps) => `Step ${step} of ${steps}`,
    steps: [
      ["A made-up case", "This post was never written by anybody. Nothing here is stored or sent; the buttons of the case rest while the tour lasts."],
      ["The post is hidden", "You see a post only when you ask for it, with the key b. Here it is: a made-up one, about people from a made-up moon."],
      ["Whom it attacks", "The machine says whom the post attacks and how sure it is. Where it doubts that a post is hateful at all, it asks you first."],
      ["The draft", "Two sentences that answer the post. They were checked before you saw them; a yellow line would say what doesn't fit."],
      ["The evidence", "What the draft states stands here with its source. Open the link before you rely on it."],
      ["You decide", "Approve, edit, reject or dismiss, by button or key. Nothing leaves without your yes, and for some seconds you can take it back."],
    ],
    next: "Next",
    end: "End the tour",
  },
};
