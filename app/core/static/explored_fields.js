// The fields of the Explorer: what was typed survives a reload of the tab, and those of a function fold into one line.
import { addModule } from "./explored_modules.js";

const KEY = "meshgrade:explorer";
const typed = (form) => [...form.elements].filter((each) => each.name && each.name !== "form_token" && each.type !== "hidden");

export function storeFields(form) {
  try {
    const fields = Object.fromEntries(typed(form).map((each) => [each.name, each.type === "checkbox" ? each.checked : each.value]));
    sessionStorage.setItem(KEY, JSON.stringify({ address: location.href, fields }));
  } catch {
    // The browser keeps nothing for this site.
  }
}

/** Restores the fields, but only after a reload: a link to the Explorer opens what it names. */
export function restoreFields(form) {
  if (performance.getEntriesByType("navigation")[0]?.type !== "reload") return;
  try {
    const stored = JSON.parse(sessionStorage.getItem(KEY));
    if (stored?.address !== location.href) return;
    for (const each of form.querySelectorAll("[data-module]")) if (!(each.querySelector("input").name in stored.fields)) each.remove();
    for (const name of Object.keys(stored.fields)) if (/^module-\d+$/.test(name)) addModule(form, Number(name.slice(7)));
    for (const each of typed(form)) {
      if (!(each.name in stored.fields)) continue;
      if (each.type === "checkbox") each.checked = stored.fields[each.name];
      else each.value = stored.fields[each.name];
    }
  } catch {
    // Nothing is stored, or another release wrote the entry.
  }
}

/** Keeps the line that stands for the fields of a function as ExplorerForm.fields_line writes it. */
export function foldFields(form) {
  const line = form.querySelector("[data-fields-line]");
  if (!line) return;
  const valueOf = (name) => form.elements[name].value.trim();
  const write = () => {
    // Leaves of one argument are one input.
    const names = valueOf("inputs").split("\n").map((each) => each.trim()).filter(Boolean).map((each) => each.split(/[/:=\s]/)[0]);
    const count = new Set(names).size;
    const state = valueOf("init") && `state from ${valueOf("init")}`;
    const parts = [valueOf("function"), valueOf("mesh"), state, `${count} input${count === 1 ? "" : "s"}`];
    line.textContent = parts.filter(Boolean).join(" \u00b7 ");
  };
  line.closest("details").addEventListener("input", write);
  write();
}
