// What the page says, in the language that it was made in. The English words stand in the scripts and are looked up by.

const { lang } = document.documentElement;
const messages = JSON.parse(document.getElementById("messages").content.textContent);
// The browser's own kind of English, for one; browsers that know no Basque write numbers as in Spanish, which is the same.
const numbers = new Intl.NumberFormat([...navigator.languages.filter((tag) => tag.split("-")[0] === lang), lang, "es"], { maximumFractionDigits: 2 });
const shown = (value) => (typeof value === "number" ? number(value) : value);
const fill = (words, values) => words.replace(/\{(\w+)\}/g, (place, name) => (name in values ? shown(values[name]) : place));

export const number = (value) => numbers.format(value);

/** Say a message; each `{name}` in it is filled with what `values` has by that name. */
export const t = (words, values = {}) => fill(messages[words] ?? words, values);

/** Say a message of `n` things, as one or as many; `{n}` in it is the number. */
export const tn = (one, many, n, values) => fill((messages[one] ?? [one, many])[n === 1 ? 0 : 1], { n, ...values });
