// Characters that turn the order of a text around are shown as marks and do nothing, so a post reads as it was written.

import { make } from "./dom.js";
import { t } from "./language.js";

const TURNS = /([\u202a-\u202e\u2066-\u2069])/;
const code = (mark) => `U+${mark.codePointAt(0).toString(16).toUpperCase()}`;

/** Tell whether a text has such characters. */
export const isTurned = (text) => TURNS.test(text);

/** Return the text as nodes, each such character as a mark. */
export function plainNodes(text) {
  return text.split(TURNS).map((part) => (TURNS.test(part)
    ? make("mark", { class: "turn", title: t("This character turns the order of the text around; here it does nothing."), text: code(part) })
    : document.createTextNode(part)));
}
