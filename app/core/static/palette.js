// The search over the whole site, in a dialog: a box to type in, and a list of what is found, by arrows or pointer. It also
// finds the buttons of the page that have a `data-action`, and presses them.

const dialog = document.createElement("dialog");
dialog.className = "palette";
dialog.setAttribute("aria-label", "Search");
dialog.innerHTML = `<input type="search" role="combobox" aria-label="Search" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list"
    maxlength="100" autocomplete="off" spellcheck="false" placeholder="Problems, lessons, reasons, settings, actions …">
  <div class="palette-list" id="palette-list" role="listbox" aria-label="Results"></div>
  <p class="soft small" role="status"></p>`;
const [box, list, status] = dialog.children;
const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("search.css", import.meta.url).href });
const styled = new Promise((done) => { style.onload = done; style.onerror = done; });
document.head.append(style);
document.body.append(dialog);

let before = null;
let asked = 0;
let waiting = 0;

const options = () => [...list.querySelectorAll("a")];
const selected = () => list.querySelector("[aria-selected=true]");

function select(option) {
  selected()?.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  if (option) box.setAttribute("aria-activedescendant", option.id);
  else box.removeAttribute("aria-activedescendant");
}

/** The buttons of the page whose names have every word of the query. */
function actionsFor(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const buttons = [...document.querySelectorAll("[data-action]")];
  return buttons
    .filter((button) => words.every((word) => button.dataset.action.toLowerCase().includes(word)))
    .map((button) => ({ group: "Actions", title: button.dataset.action, detail: "", snippet: [], press: () => button.click() }));
}

function span({ text, found }) {
  return found ? Object.assign(document.createElement("mark"), { textContent: text }) : text;
}

function group(name, hits, first) {
  const part = document.createElement("div");
  part.role = "group";
  part.ariaLabel = name;
  const heading = document.createElement("p");
  heading.ariaHidden = "true";
  heading.textContent = name;
  part.append(heading, ...hits.map((hit, at) => {
    const option = Object.assign(document.createElement("a"), { id: `found-${first + at}`, role: "option", tabIndex: -1 });
    if (hit.press) option.addEventListener("click", hit.press);
    else option.href = hit.path;
    const detail = document.createElement("span");
    detail.textContent = hit.detail;
    option.append(hit.title, detail);
    if (hit.snippet.length) {
      const snippet = Object.assign(document.createElement("span"), { className: "snippet" });
      snippet.append(...hit.snippet.map(span));
      option.append(snippet);
    }
    option.setAttribute("aria-selected", "false");
    return option;
  }));
  return part;
}

async function look() {
  const [number, query] = [asked += 1, box.value];
  let hits;
  try {
    const answer = await fetch(`/search/found?q=${encodeURIComponent(query)}`);
    if (!answer.ok) throw new Error(answer.statusText);
    hits = [...actionsFor(query), ...await answer.json()];
  } catch {
    status.textContent = "The search did not answer. Type again to retry.";
    return;
  }
  if (number !== asked) return;
  list.dataset.of = query;
  const names = [...new Set(hits.map((hit) => hit.group))];
  let first = 0;
  list.replaceChildren(...names.map((name) => {
    const found = hits.filter((hit) => hit.group === name);
    first += found.length;
    return group(name, found, first - found.length);
  }));
  select(options()[0]);
  status.textContent = hits.length ? `${hits.length} ${hits.length === 1 ? "result" : "results"}. Arrows choose, Enter opens, Esc closes.` : "Nothing found.";
}

box.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(look, 80);
});
box.addEventListener("keydown", async (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const all = options();
  if (step && all.length) select(all[(all.indexOf(selected()) + step + all.length) % all.length]);
  else if (event.key !== "Enter") return;
  event.preventDefault();
  if (event.key !== "Enter") return;
  // The list may not yet show what was typed last.
  clearTimeout(waiting);
  if (box.value !== list.dataset.of) await look();
  selected()?.click();
});
list.addEventListener("pointermove", (event) => select(event.target.closest("a") ?? selected()));
list.addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
dialog.addEventListener("close", () => before?.focus());

export async function open() {
  await styled;
  if (dialog.open) return box.select();
  before = document.activeElement;
  box.value = "";
  dialog.showModal();
  box.focus();
  await look();
}
