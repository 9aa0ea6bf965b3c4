// Follow the server's changes; when the line breaks, come back with growing waits and ask for what was missed.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;

/** This page among those that are open; who looks at which case is told by it. */
export const TAB = Array.from({ length: 4 }, () => Math.random().toString(36).slice(2, 8)).join("");

/** Listen for as long as the page is open. Handlers: change(transition), viewing({case_key, names}), reload(), up(), down(). */
export function follow(handlers) {
  let last = null;
  let wait = FIRST_WAIT;
  let source = null;
  let timer = null;

  function open() {
    clearTimeout(timer);
    source?.close();
    source = new EventSource(`/v1/events?tab=${TAB}${last === null ? "" : `&after=${last}`}`);
    source.addEventListener("ready", (event) => { last = event.lastEventId; wait = FIRST_WAIT; handlers.up(); });
    source.addEventListener("reload", (event) => { last = event.lastEventId; wait = FIRST_WAIT; handlers.up(); handlers.reload(); });
    source.addEventListener("transition", (event) => { last = event.lastEventId; handlers.change(JSON.parse(event.data)); });
    source.addEventListener("viewing", (event) => handlers.viewing(JSON.parse(event.data)));
    source.addEventListener("error", again);
  }

  function again() {
    source.close();
    handlers.down();
    clearTimeout(timer);
    timer = setTimeout(open, wait * (0.75 + Math.random() / 2));
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }

  function hurry() {
    if (source.readyState === EventSource.CLOSED && !document.hidden) open();
  }

  addEventListener("online", hurry);
  document.addEventListener("visibilitychange", hurry);
  open();
}
