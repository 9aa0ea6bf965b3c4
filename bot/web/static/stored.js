// What this browser keeps for the page; nothing if storage is off or full.

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
