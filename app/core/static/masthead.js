// The header: its menus close as menus do, a theme is chosen without a reload, and Ctrl-K opens the search.

const form = document.querySelector("[data-theme-form]");
const meta = document.querySelector("meta[name=color-scheme]");
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

function show(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  meta.content = theme === "system" ? "light dark" : theme;
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.value === theme));
}

// A reload would lose what was typed into a form.
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form, event.submitter));
  show(event.submitter.value);
  try {
    await fetch(form.action, { method: "POST", body: fields, redirect: "manual" });
  } catch {
    // Offline, this page still has the new colours, and the next one will have the old ones.
  }
});

const menus = document.querySelectorAll("[data-menu]");
for (const menu of menus) {
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.preventDefault(); // The menu of a phone, which it is part of, stays open.
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}
document.addEventListener("click", (event) => {
  for (const menu of menus) if (!menu.contains(event.target)) menu.open = false;
});

const link = document.querySelector("[data-search]");
if (isMac) link.querySelector("kbd").textContent = "⌘ K";

async function search(event) {
  event.preventDefault();
  try {
    (await import("./palette.js")).open();
  } catch {
    location.assign(link.href); // The module could not be loaded, and the page has the same search.
  }
}

link.addEventListener("click", (event) => {
  if (event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey) search(event);
});
// On a Mac, Ctrl-K deletes to the end of the line, in the editor too. Vim's keys take Ctrl-K for themselves.
document.addEventListener("keydown", (event) => {
  const isOurs = event.key.toLowerCase() === "k" && (isMac ? event.metaKey : event.ctrlKey) && !event.shiftKey && !event.altKey;
  if (isOurs && !event.defaultPrevented) search(event);
});
