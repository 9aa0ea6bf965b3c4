// What the parts of the desk share: who is logged in, the list, and the case on the page.

import { t } from "./language.js";
import { Queue } from "./queue.js";
import { groupWord } from "./words.js";

/**
 * `open` is {item, drawn, root, editor, shown, since} of the case on the page, null while another one loads: `drawn` is the case
 * whose draft is shown, older than `item` while somebody writes. `left` is the one that was open before that; `page` names what
 * is shown instead of a case: `today`, `tour` or null. `turn` grows with every case that is asked for: what a slower answer
 * brings is not shown any more.
 */
export const here = { me: { name: null, role: null }, open: null, left: null, page: null, turn: 0 };

export const queue = new Queue(() => here.me);

/** Whether the case that was just decided, or refused, is still the one on the page. */
export const isOpen = (key) => here.open?.item.key === key;

/** Say in a few words which case this is. */
export const subject = (item) => (item.triage?.groups.length ? t("post against {group}", { group: groupWord(item.triage.groups[0].group) }) : t("post on {platform}", item.post));
