// Checks: one plain line, what fails or is close in words, and the whole list folded beneath.

import { make, slot } from "./dom.js";
import { number, t, tn } from "./language.js";

const rank = (check) => (check.passed ? (check.close ? 1 : 2) : 0);

/** Show how checks went, of the draft or of the moderator's own text, as `title` says. */
export function showChecks(root, title, checks) {
  const sorted = [...checks].sort((first, second) => rank(first) - rank(second));
  slot(root, "checks-title").textContent = title;
  slot(root, "checks-card").hidden = !checks.length;
  slot(root, "checks-sum").textContent = sumUp(checks);
  slot(root, "findings").replaceChildren(...sorted.filter((check) => check.finding).map(finding));
  slot(root, "checks").replaceChildren(...sorted.map(line));
}

const kindOf = (check) => ["failed", "close", "passed"][rank(check)];

const finding = (check) => make("li", { class: `finding ${kindOf(check)}`, text: check.finding });

function line(check) {
  const kind = kindOf(check);
  const words = { failed: check.hard ? t("fails") : t("fails, only advice"), close: t("close to the limit"), passed: t("passes") }[kind];
  return make("li", { class: `check ${kind}` },
    make("span", { class: "check-mark", "aria-hidden": true, text: { failed: "✕", close: "!", passed: "✓" }[kind] }),
    make("span", { class: "check-name", text: check.label }),
    make("span", { class: "check-value", text: `${number(check.value)} / ${number(check.threshold)}`, title: t("value / limit") }),
    make("span", { class: "unseen", text: words }),
  );
}

/** Say in one line how the checks went. */
export function sumUp(checks) {
  const count = (test) => checks.filter(test).length;
  const all = checks.length;
  const failed = count((check) => !check.passed && check.hard);
  const advice = count((check) => !check.passed && !check.hard);
  const close = count((check) => check.close);
  if (!all) return t("No check was made.");
  if (failed) return tn("{n} of {all} checks fails.", "{n} of {all} checks fail.", failed, { all });
  const rest = [
    advice && tn("{n} only advises against it", "{n} only advise against it", advice), close && t("{n} close to the limit", { n: close }),
  ].filter(Boolean).join(", ");
  if (advice) return t("No check that must pass fails; {rest}.", { rest });
  const passed = tn("The one check passes", "All {n} checks pass", all);
  return `${rest ? `${passed}, ${rest}` : passed}.`;
}
