// The fields for inputs of one's own: reads what was typed, and shows beside each field what is wrong with it.

import { GradingError } from "./grading.js";

const PREFIX = "value.";

/** Returns the arguments that were typed, by name, or null. Throws a GradingError whose `faults` name the fields. */
function valuesIn(fields) {
  const values = {};
  const faults = {};
  for (const field of fields) {
    const text = field.value.trim();
    if (!text) continue;
    const name = field.name.slice(PREFIX.length);
    try {
      values[name] = JSON.parse(text);
    } catch {
      faults[name] = `${text.slice(0, 40)} is not JSON. Write 0.5, [1, 2] or [[1, 2], [3, 4]].`;
    }
  }
  const names = Object.keys(faults);
  if (names.length) {
    throw Object.assign(new GradingError(`Nothing was run. ${names.map((name) => `${name}: ${faults[name]}`).join(" ")}`), { faults });
  }
  return Object.keys(values).length ? values : null;
}

/** Reads seed, mesh and typed values. An empty mesh means all of the problem's. */
export function ownInputs(form) {
  const { seed, mesh } = form.elements;
  return { seed: Number(seed.value), mesh: mesh?.value || null, values: valuesIn(fieldsOf(form)) };
}

/** Marks the fields that `faults` name, by name, and clears the others. Moves the focus to the first one. */
export function showFaults(form, faults = {}) {
  const fields = fieldsOf(form);
  for (const field of fields) {
    const fault = faults[field.name.slice(PREFIX.length)];
    field.toggleAttribute("aria-invalid", Boolean(fault));
    if (fault) field.setAttribute("aria-invalid", "true");
    document.getElementById(`fault-${field.name.slice(PREFIX.length)}`).textContent = fault ?? "";
  }
  const first = fields.find((field) => field.hasAttribute("aria-invalid"));
  if (!first) return;
  first.closest("details").open = true;
  first.focus();
}

/** Whether Enter in this element means a run on these inputs, although Run is the first button. */
export const isOwnInput = (element) => element?.name === "seed" || (element?.name ?? "").startsWith(PREFIX);

const fieldsOf = (form) => [...form.querySelectorAll(`input[name^="${PREFIX}"]`)];
