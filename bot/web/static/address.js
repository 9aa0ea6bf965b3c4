// The open case and the filters stand in the address behind the `#`, which no browser sends anywhere.

const NAMES = ["case", "page", "show", "group", "mine", "search"];

/** Tell whether the address is a link with a token that has yet to be used; the page is about to be loaded anew for it. */
export const offersToken = () => location.hash.startsWith("#token=");

/** Return what the address says: {case, page, show, group, mine, search}, each a string, empty where it says nothing. */
export function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(NAMES.map((name) => [name, said.get(name) ?? ""]));
}

/** Put these into the address; with `isStep` Back returns to what it was. `view` is what a narrow page shows. */
export function writeAddress(place, view, isStep) {
  if (offersToken()) return;
  const said = new URLSearchParams(NAMES.filter((name) => place[name]).map((name) => [name, place[name]]));
  const address = `${location.pathname}${said.size ? `#${said}` : ""}`;
  const isSame = address === `${location.pathname}${location.hash}` && history.state?.view === view;
  if (!isSame) history[isStep ? "pushState" : "replaceState"]({ view }, "", address);
}
