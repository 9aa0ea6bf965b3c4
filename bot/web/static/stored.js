// What this browser keeps for the page. Where storage is switched off or full, nothing is kept and the page goes on.

/** Return what is kept under a name, or null: also where it is not ours to read. */
export function stored(name, place = "localStorage") {
  try {
    return JSON.parse(window[place].getItem(name));
  } catch {
    return null;
  }
}

/** Keep something under a name; return whether it is kept. */
export function store(name, value, place = "localStorage") {
  try {
    window[place].setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
