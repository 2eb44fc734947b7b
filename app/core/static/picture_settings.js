// What the reader chose for the picture of the code. It runs before the first paint, so a folded picture takes no room.

const KEY = "meshgrade:picture";

/** Returns what is stored, with any of `live`, `folded` and `chip`. */
export function storedPicture() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {}; // The browser keeps nothing for this site, or another release stored the entry.
  }
}

export function storePicture(settings) {
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // Without storage, the choice lasts until the page is left.
  }
}

export function showFolded(folded) {
  if (folded) document.documentElement.dataset.picture = "folded";
  else delete document.documentElement.dataset.picture;
}

showFolded(storedPicture().folded ?? false);
