// Filters the list while you type. The page holds every problem, so the server need not be asked, and the address stays
// one that the server would answer with the same list.

const form = document.querySelector("[data-filters]");
const rows = [...document.querySelectorAll("[data-row]")];
const stops = [...document.querySelectorAll("[data-stop]")];
const found = document.querySelector("[data-found]");
const nothing = document.querySelector("[data-nothing]");
const inTexts = document.querySelector("[data-in-texts]");
const clear = form?.querySelector("[data-clear]");
const toList = document.querySelector("[data-to-list]");
const allOfIt = toList?.textContent;
// What this browser remembers: the filters without the words, and the track in which a problem or lesson was opened last.
const FILTERS = "meshgrade:filters";
const TRACK = "meshgrade:last-track";

function recall(key) {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return ""; // The browser stores nothing for this site.
  }
}

function remember(key, value) {
  try {
    if (value) localStorage.setItem(key, value);
    else localStorage.removeItem(key);
  } catch {
    // The next visit begins without filters.
  }
}

function matches(row, wanted) {
  const { words, ofTrack, difficulty, state, tags } = row.dataset;
  return (wanted.q ?? "").toLowerCase().split(/\s+/).every((word) => words.includes(word))
    && (!wanted.track || wanted.track === ofTrack)
    && (!wanted.difficulty || wanted.difficulty === difficulty)
    && (!wanted.state || wanted.state === state)
    && (!wanted.tag || JSON.parse(tags).includes(wanted.tag));
}

function filter() {
  const given = [...new FormData(form)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value);
  const wanted = Object.fromEntries(given);
  let shown = 0;
  for (const row of rows) {
    row.hidden = !matches(row, wanted);
    shown += row.hidden ? 0 : 1;
  }
  for (const track of document.querySelectorAll("[data-track]")) {
    track.hidden = !track.querySelector("[data-row]:not([hidden])");
  }
  // A stop that the filter leaves out fades but stays in its place, so that the line stays whole.
  const left = new Set(rows.filter((row) => !row.hidden).map((row) => row.dataset.row));
  for (const stop of stops) {
    stop.classList.toggle("is-off", !stop.dataset.stop.split(" ").some((slug) => left.has(slug)));
  }
  nothing.hidden = shown > 0;
  clear.hidden = given.length === 0;
  toList.textContent = given.length ? `Filtered: ${shown} of ${rows.length}` : allOfIt;
  remember(FILTERS, new URLSearchParams(given.filter(([name]) => name !== "q")).toString());
  found.textContent = given.length ? `${shown} of ${rows.length} problems.` : "";
  inTexts.hidden = !wanted.q;
  inTexts.querySelector("a").search = new URLSearchParams({ q: wanted.q ?? "" });
  const query = new URLSearchParams(given).toString();
  history.replaceState(history.state, "", query ? `?${query}` : location.pathname);
}

if (form) {
  form.querySelector("[data-apply]").hidden = true;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    filter();
  });
  for (const link of [clear, ...nothing.querySelectorAll("a")]) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      for (const field of form.elements) field.value = "";
      filter();
      form.elements.q.focus();
    });
  }
  if (!location.search) {
    for (const [name, value] of new URLSearchParams(recall(FILTERS))) {
      const field = form.elements[name];
      // A tag or a track may be gone since.
      if (field && [...field.options].some((each) => each.value === value)) field.value = value;
    }
  }
  // After going back or a reload, the browser may have filled in other values than the server was asked for.
  if ([...form.elements].some((field) => field.value !== (new URLSearchParams(location.search).get(field.name) ?? ""))) filter();
}

const lastTrack = document.querySelector("[data-last-track]");
const line = document.getElementById(`line-${recall(TRACK)}`);
if (line) {
  lastTrack.textContent = `Last: ${line.querySelector("h3 a").textContent}`;
  lastTrack.href = `#${line.id}`;
  lastTrack.hidden = false;
}
document.addEventListener("click", (event) => {
  if (!event.target.closest(".stop a, [data-row] h3 a")) return;
  const opened = event.target.closest("[data-line], [data-row]");
  remember(TRACK, opened.dataset.line ?? opened.dataset.ofTrack);
});

// A card of a stop is in the way until Escape hides it, or until the reader leaves the stop.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const stop of stops) stop.classList.toggle("is-dismissed", stop.matches(":hover, :focus-within"));
});
for (const stop of stops) {
  for (const event of ["pointerleave", "focusout"]) stop.addEventListener(event, () => stop.classList.remove("is-dismissed"));
}
