// The parts of the problem page as tabs: the links between them become tabs, and the address says which one is shown.
import { reveal } from "./panes.js";

const CODE = "workbench";
const wide = matchMedia("(min-width: 68.75rem)");
const panes = document.querySelector("[data-panes]");
const list = panes.querySelector("[data-views]");
const tabs = [...list.querySelectorAll("a")];
const nameOf = (tab) => tab.hash.slice(1);
const panelOf = (tab) => document.getElementById(nameOf(tab));
// The scroll position of each part of a narrow page, on which the window scrolls.
const places = new Map();
// The code is a tab only if it is not beside the text.
let current = nameOf(tabs[0]);
let reading = current;

export const isWide = () => wide.matches;

const shown = () => (wide.matches ? reading : current);

function draw() {
  panes.dataset.view = current;
  for (const tab of tabs) {
    const panel = panelOf(tab);
    const name = nameOf(tab);
    const selected = name === shown();
    tab.setAttribute("aria-selected", String(selected));
    tab.tabIndex = selected ? 0 : -1;
    if (name !== CODE) panel.toggleAttribute("data-shown", name === reading);
  }
  const code = document.getElementById(CODE);
  if (wide.matches) code.removeAttribute("role");
  else code.setAttribute("role", "tabpanel");
}

/** Show the part with this id. `remember` puts it into the address, for a reload. */
export function select(name, { remember = true } = {}) {
  if (name !== current && !wide.matches) {
    places.set(current, scrollY);
    current = name;
    if (name !== CODE) reading = name;
    draw();
    const top = Math.ceil(panes.getBoundingClientRect().top + scrollY);
    // The code begins at the top of the window, so that Run and Submit are in sight, too.
    scrollTo({ top: places.get(name) ?? (name === CODE ? top : Math.min(scrollY, top)), behavior: "instant" });
  } else {
    current = name;
    if (name !== CODE) reading = name;
    draw();
  }
  reveal(name === CODE ? CODE : "reading");
  tabs.find((tab) => nameOf(tab) === shown())?.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
  const first = name === nameOf(tabs[0]);
  if (remember) history.replaceState(history.state, "", first ? location.pathname + location.search : `#${name}`);
}

/** Shows a part of the page, or a place within one, and opens what is folded around it. */
function follow(hash) {
  let target = null;
  try {
    target = hash ? document.getElementById(decodeURIComponent(hash.slice(1))) : null;
  } catch {
    return; // not an address of this page
  }
  if (!target || !panes.contains(target)) return;
  const part = tabs.map(nameOf).find((name) => document.getElementById(name).contains(target));
  if (!part) return;
  const isPart = target.id === part;
  select(part, { remember: isPart });
  for (let each = target.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
  if (isPart) {
    // A page that has just been opened is read from the top, so leave the focus there.
    if ("ready" in panes.dataset) target.focus({ preventScroll: true });
    return;
  }
  target.scrollIntoView({ block: "start" });
  if (target.matches("input")) target.focus({ preventScroll: true });
}

// A part that the Tab key or a pointer reaches keeps the focus, so that keys scroll it. Whatever else leads to a part, a
// link, a script or the address, leads to its heading.
let reachedBy = "";
document.addEventListener("keydown", (event) => { reachedBy = event.key === "Tab" ? "key" : ""; }, true);
document.addEventListener("pointerdown", () => { reachedBy = "pointer"; }, true);
for (const end of ["keyup", "pointerup", "pointercancel"]) document.addEventListener(end, () => { reachedBy = ""; }, true);

function focusHeading(panel) {
  const heading = [...panel.querySelectorAll("h1, h2, h3")].find((each) => each.checkVisibility());
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

list.setAttribute("role", "tablist");
for (const tab of tabs) {
  const panel = panelOf(tab);
  tab.id = `tab-${nameOf(tab)}`;
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", panel.id);
  if (nameOf(tab) !== CODE) {
    panel.setAttribute("role", "tabpanel");
    panel.removeAttribute("aria-label");
    panel.setAttribute("aria-labelledby", tab.id);
    panel.tabIndex = 0;
    panel.addEventListener("focus", () => { if (!reachedBy) focusHeading(panel); });
  }
}

list.addEventListener("click", (event) => {
  const tab = event.target.closest("a");
  if (!tab || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  select(nameOf(tab));
});

const STEPS = { ArrowLeft: -1, ArrowRight: 1 };
list.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const there = tabs.filter((tab) => tab.getClientRects().length > 0);
  const at = there.indexOf(event.target);
  let next;
  if (event.key in STEPS) next = there.at((at + STEPS[event.key]) % there.length);
  else if (event.key === "Home") next = there[0];
  else if (event.key === "End") next = there.at(-1);
  else if (event.key === " ") next = event.target;
  if (!next) return;
  event.preventDefault();
  select(nameOf(next));
  next.focus({ preventScroll: true });
});

// Links within the page: the sections of the statement, the instruments of a verdict, the way to the editor.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href*='#']");
  if (!link || list.contains(link) || event.defaultPrevented || link.pathname !== location.pathname) return;
  // The browser goes there itself, once the target can be seen.
  follow(link.hash);
});
addEventListener("hashchange", () => follow(location.hash));
wide.addEventListener("change", draw);

current = panes.dataset.view ?? current;
draw();
follow(location.hash);
panes.dataset.ready = "";
