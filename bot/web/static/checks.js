// Checks: one plain line, what fails or is close in words, and the whole list folded beneath.

import { make, slot } from "./dom.js";
import { figure } from "./words.js";

const rank = (check) => (check.passed ? (check.close ? 1 : 2) : 0);

/** Show how the checks of `title`, the draft or the moderator's own text, went. */
export function showChecks(root, title, checks) {
  const sorted = [...checks].sort((first, second) => rank(first) - rank(second));
  slot(root, "checks-title").textContent = `Checks of ${title}`;
  slot(root, "checks-card").hidden = !checks.length;
  slot(root, "checks-sum").textContent = sumUp(checks);
  slot(root, "findings").replaceChildren(...sorted.filter((check) => check.finding).map(finding));
  slot(root, "checks").replaceChildren(...sorted.map(line));
}

const kindOf = (check) => ["failed", "close", "passed"][rank(check)];

const finding = (check) => make("li", { class: `finding ${kindOf(check)}`, text: check.finding });

function line(check) {
  const kind = kindOf(check);
  const words = { failed: check.hard ? "fails" : "fails, only advice", close: "close to the limit", passed: "passes" }[kind];
  return make("li", { class: `check ${kind}` },
    make("span", { class: "check-mark", "aria-hidden": true, text: { failed: "✕", close: "!", passed: "✓" }[kind] }),
    make("span", { class: "check-name", text: check.label }),
    make("span", { class: "check-value", text: `${figure(check.value)} / ${figure(check.threshold)}`, title: "value / limit" }),
    make("span", { class: "unseen", text: words }),
  );
}

/** Say in one line how the checks went. */
export function sumUp(checks) {
  const count = (test) => checks.filter(test).length;
  const all = checks.length === 1 ? "The one check" : `All ${checks.length} checks`;
  const pass = checks.length === 1 ? "passes" : "pass";
  const failed = count((check) => !check.passed && check.hard);
  const advice = count((check) => !check.passed && !check.hard);
  const close = count((check) => check.close);
  if (!checks.length) return "No check was made.";
  if (failed) return `${failed} of ${checks.length} checks ${failed === 1 ? "fails" : "fail"}.`;
  const rest = [advice && `${advice} only advise${advice === 1 ? "s" : ""} against it`, close && `${close} close to the limit`];
  const words = rest.filter(Boolean).join(", ");
  if (advice) return `No check that must pass fails; ${words}.`;
  return words ? `${all} ${pass}, ${words}.` : `${all} ${pass}.`;
}
