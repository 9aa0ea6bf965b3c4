// Write or change a reply, checked while one writes. What was written is kept until it is sent.

import { checkText, Refusal } from "./api.js";
import { showDraftChecks, titleReply } from "./case.js";
import { showChecks, sumUp } from "./checks.js";
import { say, slot } from "./dom.js";
import { bringBack, keepText, keptText } from "./kept.js";
import { t } from "./language.js";
import { age, WAITING } from "./words.js";

const PAUSE_MS = 300;

/** The editor of one shown case. `send(text, override)` is called to send; `close()` after it was left. */
export class Editor {
  constructor(root, item, me, { send, close }) {
    this.root = root;
    this.item = item;
    this.me = me;
    this.send = send;
    this.close = close;
    this.form = slot(root, "editor");
    this.area = this.form.querySelector("textarea");
    this.area.addEventListener("input", () => this.changed());
    this.area.addEventListener("keydown", (event) => this.key(event));
    this.form.addEventListener("submit", (event) => event.preventDefault());
  }

  get open() { return !this.form.hidden; }

  /** Open with the text last written here, or the draft's. */
  start(focus = true) {
    if (!this.open) {
      this.area.value = this.unsent ?? this.item.drafts.at(-1)?.text ?? "";
      this.form.hidden = false;
      slot(this.root, "actions").hidden = false;
      slot(this.root, "draft").hidden = true;
      titleReply(this.root, this.item, true);
      slot(this.root, "reply-card").after(slot(this.root, "checks-card")); // in sight while one writes
      this.offer();
      this.check();
      this.grow();
    }
    if (focus) {
      // A phone scrolls to the cursor once its keyboard is there.
      const cursor = matchMedia("(pointer: coarse)").matches ? 0 : this.area.value.length;
      this.area.focus({ preventScroll: true });
      this.area.setSelectionRange(cursor, cursor);
      this.area.scrollTop = 0;
      this.area.scrollIntoView({ block: "nearest" });
    }
  }

  /** Let the field be as high as its text, in browsers whose style sheets can't. */
  grow() {
    if (CSS.supports("field-sizing", "content")) return;
    this.area.style.height = "auto";
    this.area.style.height = `${this.area.scrollHeight + 2}px`;
  }

  /** Leave; the text is kept and comes back. */
  leave() {
    this.form.hidden = true;
    slot(this.root, "draft").hidden = !slot(this.root, "draft").textContent;
    this.checking?.abort();
    this.root.querySelector(".side-column > .card").after(slot(this.root, "checks-card"));
    showDraftChecks(this.root, this.item);
    titleReply(this.root, this.item, false);
    this.offer();
    this.close();
  }

  /** The text last written here and not sent, or undefined. */
  get unsent() { return keptText(this.me.name, this.item.key)?.text; }

  forget() {
    keepText(this.me.name, this.item.key, "");
    this.offer();
  }

  /** Offer what was begun here and not sent, while the editor is closed. */
  offer() {
    if (this.item.state === WAITING) bringBack(this.me.name, this.item.key);
    const text = this.open ? null : keptText(this.me.name, this.item.key);
    const kept = text?.until ? null : text;
    slot(this.root, "offer").hidden = !kept;
    slot(this.root, "reply-card").hidden &&= !kept;
    say(slot(this.root, "offer-age"), kept && age(new Date(kept.at).toISOString()));
    say(slot(this.root, "offer-text"), kept?.text);
    slot(this.root, "offer-go-on").hidden = !this.item.actions.includes("edit");
  }

  /** Put a statement where the cursor is. */
  insert(text) {
    const { selectionStart, selectionEnd, value } = this.area;
    const gap = value.slice(0, selectionStart).trimEnd() && " ";
    this.area.value = `${value.slice(0, selectionStart).trimEnd()}${gap}${text} ${value.slice(selectionEnd).trimStart()}`.trim();
    this.area.focus();
    this.changed();
  }

  submit(override) {
    const text = this.area.value.trim();
    if (text) this.send(text, override);
    else this.area.focus();
  }

  key(event) {
    if (event.key === "Escape") { event.preventDefault(); this.leave(); }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.submit(false); }
  }

  changed() {
    const draft = this.item.drafts.at(-1)?.text ?? "";
    keepText(this.me.name, this.item.key, this.area.value === draft ? "" : this.area.value);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), PAUSE_MS);
    this.count();
    this.grow();
  }

  count() {
    slot(this.root, "length").textContent = t("{n} characters", { n: this.area.value.length });
  }

  async check() {
    this.count();
    this.checking?.abort();
    this.checking = new AbortController();
    if (!this.area.value.trim()) return this.verdict([], t("Write the reply; it is checked as you go."));
    try {
      const { checks } = await checkText(this.item.key, this.area.value, this.checking.signal);
      this.verdict(checks, sumUp(checks));
    } catch (error) {
      if (error.name === "AbortError") return;
      this.verdict([], error instanceof Refusal ? error.message : t("Not checked: the server can't be reached."));
    }
  }

  /** Show checks, and to a lead the way past failed ones. */
  verdict(checks, words) {
    const failed = checks.some((check) => check.hard && !check.passed);
    const element = slot(this.root, "verdict");
    element.textContent = words;
    element.classList.toggle("error", failed);
    showChecks(this.root, t("Checks of your text"), checks);
    this.root.querySelector('[data-do="override"]').hidden = !failed || !this.me.leads;
  }
}
