// The only ways this page builds elements. Whatever comes from a case goes in as text, never as markup.

export const byId = (id) => document.getElementById(id);

/** Return a new element; `text` becomes its text, the rest of `attributes` its attributes. */
export function make(tag, { text, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  if (text !== undefined && text !== null) element.textContent = text;
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Return a copy of a template's content. */
export const copyOf = (id) => byId(id).content.cloneNode(true);

/** Return the element of this slot inside `root`. */
export const slot = (root, name) => root.querySelector(`[data-slot="${name}"]`);

/** Show the text, or hide the element when there is none. */
export function say(element, text) {
  element.textContent = text || "";
  element.hidden = !text;
}

/** Make `link` point to `url` when that is an https address; otherwise leave it hidden. */
export function pointTo(link, url) {
  const safe = httpsOnly(url);
  link.hidden = !safe;
  if (safe) link.href = safe;
}

/** Return the address when it is https, else null: `javascript:` and friends never become links. */
export function httpsOnly(url) {
  if (!url || !URL.canParse(url)) return null;
  const parsed = new URL(url);
  return parsed.protocol === "https:" ? parsed.href : null;
}

/** Return a bar from 0 to 1 that a screen reader can read. */
export function bar(share, label) {
  const filled = make("i");
  filled.style.width = `${Math.round(100 * Math.min(1, Math.max(0, share)))}%`;
  const percent = Math.round(100 * share);
  return make("span", {
    class: "bar", role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": percent,
  }, filled);
}
