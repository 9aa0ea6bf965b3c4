// Keys, one table. They rest while somebody types, holds a modifier or looks at a dialog.

const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";

/** Call `actions[key]` when its key is pressed. */
export function listenToKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest?.(TYPING) || document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && event.target.closest?.("button, a, summary")) return;
    const isLetter = event.key.length === 1;
    const action = actions[isLetter && event.getModifierState("CapsLock") ? event.key.toLowerCase() : event.key];
    if (!action || event.repeat && !"jk".includes(event.key)) return;
    event.preventDefault();
    action();
  });
}
