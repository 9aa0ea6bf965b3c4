// Follow the server's changes; when the line breaks, come back with growing waits and ask for what was missed. A page that nobody
// sees lets go of its line: a browser has six for one server over HTTP/1.1, and as many pages would leave none for decisions.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
const HEARTBEAT = 15000; // unless the server says how often it sends one
const SILENCE = 2.5; // heartbeats that may fail to come before the line counts as dead

/** This page among those that are open; who looks at which case is told by it. */
export const TAB = Array.from({ length: 4 }, () => Math.random().toString(36).slice(2, 8)).join("");

/** Listen for as long as the page is open. Handlers: change(transition), missed(escalations), viewing({case_key, names}), reload(), up(), down(). */
export function follow(handlers) {
  let last = null;
  let wait = FIRST_WAIT;
  let source = null;
  let timer = null;
  let heartbeat = HEARTBEAT;

  function open() {
    close();
    source = new EventSource(`/v1/events?tab=${TAB}${last === null ? "" : `&after=${last}`}`);
    heartbeat = HEARTBEAT;
    const hear = (name, act) => source.addEventListener(name, (event) => { listen(); act(event); });
    const start = (event) => { last = event.lastEventId; wait = FIRST_WAIT; handlers.up(); };
    hear("ready", (event) => { heartbeat = 1000 * JSON.parse(event.data).heartbeat_s; listen(); start(event); });
    hear("reload", (event) => { start(event); handlers.reload(); });
    hear("transition", (event) => { last = event.lastEventId; handlers.change(JSON.parse(event.data)); });
    hear("viewing", (event) => handlers.viewing(JSON.parse(event.data)));
    hear("escalations", (event) => handlers.missed(JSON.parse(event.data)));
    hear("heartbeat", () => {});
    source.addEventListener("error", again);
    listen();
  }

  /** Wait for the next sign of life; a line that died without being closed gives none. */
  function listen() {
    clearTimeout(timer);
    timer = setTimeout(again, SILENCE * heartbeat);
  }

  function again() {
    close();
    handlers.down();
    timer = setTimeout(open, wait * (0.75 + Math.random() / 2));
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }

  function close() {
    clearTimeout(timer);
    source?.close();
  }

  addEventListener("online", () => { if (!document.hidden && source?.readyState === EventSource.CLOSED) open(); });
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  if (!document.hidden) open();
}
