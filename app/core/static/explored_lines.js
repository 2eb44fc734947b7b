// Pointing at a line of a source marks the operations that it causes, and the other way round. What is on the page may
// be replaced at any time.
const marked = "is-pointed-at";
let before;
let told = () => {};

/** Marks what belongs to this line, such as "line-6". Without a line, nothing is marked. */
export function mark(line) {
  if (line === before) return;
  before = line;
  for (const each of document.querySelectorAll(`.${marked}`)) each.classList.remove(marked);
  if (line) for (const each of document.querySelectorAll(`[data-of-line="${line}"]`)) each.classList.add(marked);
}

/** Calls back with the line that is pointed at on the page, or with undefined. */
export function onPoint(callback) {
  told = callback;
}

/** Scrolls each graph that is wider than its box to the node at its top. */
export function showStarts(root) {
  for (const box of root.querySelectorAll(".graph-box")) {
    const nodes = [...box.querySelectorAll(".node")].map((each) => each.getBoundingClientRect());
    const highest = nodes.sort((one, other) => one.top - other.top)[0];
    if (highest) box.scrollLeft += highest.left + highest.width / 2 - box.getBoundingClientRect().left - box.clientWidth / 2;
  }
}

function point(event) {
  const line = event.target.closest?.("[data-of-line]")?.dataset.ofLine;
  if (line === before) return;
  mark(line);
  told(line);
}

const outside = (event) => { if (before && event.target.closest?.("[data-of-line]")) point({ target: event.relatedTarget ?? document }); };

for (const name of ["pointerover", "focusin"]) document.addEventListener(name, (event) => { if (event.target.closest?.("[data-of-line]")) point(event); });
for (const name of ["pointerout", "focusout"]) document.addEventListener(name, outside);

showStarts(document);

// Searches a compiled program: hides computations without a match, and opens those with one. Afterwards all are as they
// were.
const wasOpen = new WeakMap();
document.addEventListener("input", (event) => {
  const listing = event.target.closest("[data-search]")?.closest("[data-searched]");
  if (!listing) return;
  const parts = [...listing.querySelectorAll("details")].map((part) => ({ part, items: [...part.querySelectorAll("li")] }));
  const wanted = event.target.value.trim().toLowerCase();
  if (!wasOpen.has(listing)) wasOpen.set(listing, parts.map(({ part }) => part.open));
  let found = 0;
  for (const [index, { part, items }] of parts.entries()) {
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(wanted);
    const here = items.filter((item) => !item.hidden).length;
    part.hidden = here === 0;
    part.open = wanted === "" ? wasOpen.get(listing)[index] : here > 0;
    found += here;
  }
  if (wanted === "") wasOpen.delete(listing);
  listing.querySelector("[role=status]").textContent = wanted === "" ? "" : `${found} ${found === 1 ? "instruction" : "instructions"}`;
});
