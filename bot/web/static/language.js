// What the page says, in the language that it was made in: the English words stand in the scripts and are looked up by.

export const { lang } = document.documentElement;

const messages = JSON.parse(document.getElementById("messages").content.textContent);
// The browser's own variant comes first. If it has no Basque, numbers are written as in Spanish, which is the same.
const locales = [...navigator.languages.filter((tag) => tag.split("-")[0] === lang), lang, "es"];
const numbers = new Intl.NumberFormat(locales, { maximumFractionDigits: 2 });
const times = new Intl.DateTimeFormat(locales, { hour: "2-digit", minute: "2-digit" });

export const number = (value) => numbers.format(value);
export const timeOfDay = (moment) => times.format(moment);

const shown = (value) => (typeof value === "number" ? number(value) : value);
const fill = (words, values) => words.replace(/\{(\w+)\}/g, (place, name) => shown(values[name] ?? place));

/** Say a message; each `{name}` in it is filled with what `values` has by that name. */
export const t = (words, values = {}) => fill(messages[words] ?? words, values);

/** Say a message of one thing or of many; `{n}` in it is their number. */
export const tn = (one, many, n, values) => fill((messages[one] ?? [one, many])[n === 1 ? 0 : 1], { n, ...values });
