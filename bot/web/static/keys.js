// Keys, one table. They rest while somebody types, holds a modifier or looks at a dialog.

const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
const BURST_MS = 1500;
let burstAt = -Infinity; // when the last letter was typed into a field, or would have been had it kept the focus
let writtenAt = -Infinity;

/** Tell whether somebody is writing in the open case: a field of it has the focus, and changed since `moment`. */
export function isWritingSince(moment) {
  const field = document.activeElement?.closest(TYPING);
  return writtenAt >= moment && Boolean(field?.closest("#case-body"));
}

/** Call `actions[key]` when its key is pressed. */
export function listenToKeys(actions) {
  document.addEventListener("input", () => { writtenAt = performance.now(); }, { capture: true });
  document.addEventListener("keydown", noteTyping, { capture: true });
  document.addEventListener("pointerdown", endBurst, { capture: true });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest?.(TYPING) || document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && event.target.closest?.("button, a, summary")) return;
    const isLetter = event.key.length === 1;
    if (isLetter && isBurst()) return goOnTyping(event);
    const action = actions[isLetter && event.getModifierState("CapsLock") ? event.key.toLowerCase() : event.key];
    if (!action || event.repeat && !"jk".includes(event.key)) return;
    event.preventDefault();
    action();
  });
}

const isBurst = () => performance.now() - burstAt < BURST_MS;
const endBurst = () => { burstAt = -Infinity; };

/** Note what is typed into a field; what sends or leaves it ends the burst. */
function noteTyping(event) {
  if (event.key === "Escape") return endBurst();
  const field = event.target.closest?.(TYPING);
  if (!field) return;
  const isShortcut = (event.ctrlKey || event.metaKey) && !event.altKey; // Ctrl and Alt together type a letter on some keyboards
  if (event.key === "Tab" || event.key === "Enter" && (isShortcut || !field.matches("textarea"))) endBurst();
  else if (!isShortcut && (event.key.length === 1 || event.key === "Backspace")) burstAt = performance.now();
}

/** Take a letter of a word whose field has lost the focus for what it is: no key of an action. */
function goOnTyping(event) {
  event.preventDefault();
  burstAt = performance.now();
}
