// The menu in the header chooses a theme without a reload, which would lose what was typed into a form.

const form = document.querySelector("[data-theme-form]");
const menu = document.querySelector("[data-menu]");
const meta = document.querySelector("meta[name=color-scheme]");

function show(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  meta.content = theme === "system" ? "light dark" : theme;
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.value === theme));
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form, event.submitter));
  show(event.submitter.value);
  try {
    await fetch(form.action, { method: "POST", body: fields, redirect: "manual" });
  } catch {
    // Offline: the page has its colours all the same, and the next one the old ones.
  }
});

menu.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

document.addEventListener("click", (event) => {
  if (!menu.contains(event.target)) menu.open = false;
});
