// The width of the left side that the reader chose. It runs before the first paint, so nothing moves afterwards.

const KEY = "meshgrade:split";
export const LEAST = 25;
export const MOST = 75;
export const USUAL = 48;

/** Returns the width in per cent. */
export function storedWidth() {
  try {
    const stored = Number(localStorage.getItem(KEY) ?? USUAL);
    return stored >= LEAST && stored <= MOST ? stored : USUAL;
  } catch {
    return USUAL; // the browser keeps nothing for this site
  }
}

export function showWidth(percent) {
  document.documentElement.style.setProperty("--split", `${percent}%`);
}

export function storeWidth(percent) {
  try {
    localStorage.setItem(KEY, String(percent));
  } catch {
    // The width holds until the page is left.
  }
}

showWidth(storedWidth());
