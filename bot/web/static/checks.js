// Checks as a list: name, value against its limit, passed or not; those near their limit stand out.

import { make } from "./dom.js";
import { figure } from "./words.js";

const rank = (check) => (check.passed ? (check.close ? 1 : 2) : 0);

/** Fill `list` with the checks, the failed and the close ones first. */
export function showChecks(list, checks) {
  list.replaceChildren(...[...checks].sort((first, second) => rank(first) - rank(second)).map(line));
}

function line(check) {
  const kind = ["failed", "close", "passed"][rank(check)];
  const words = { failed: check.hard ? "fails" : "fails, only advice", close: "close to the limit", passed: "passes" }[kind];
  return make("li", { class: `check ${kind}` },
    make("span", { class: "check-mark", "aria-hidden": true, text: { failed: "✕", close: "!", passed: "✓" }[kind] }),
    make("span", { class: "check-name", text: check.name.replaceAll("_", " ") }),
    make("span", { class: "check-value", text: `${figure(check.value)} / ${figure(check.threshold)}`, title: "value / limit" }),
    make("span", { class: "unseen", text: words }),
    check.detail ? make("span", { class: "check-detail", text: check.detail }) : null,
  );
}

/** Say in a few words how the checks went. */
export function sumUp(checks) {
  const failed = checks.filter((check) => !check.passed && check.hard).length;
  const close = checks.filter((check) => check.close).length;
  if (!checks.length) return "none were made";
  if (failed) return `${failed} of ${checks.length} fail`;
  return close ? `all ${checks.length} pass, ${close} close to the limit` : `all ${checks.length} pass`;
}
