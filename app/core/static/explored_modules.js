// The further modules of a source: fields for each, added and removed without leaving the page.

/** Lets the reader add and remove modules. `change` is called when one is removed. */
export function offerModules(form, change) {
  const place = form.querySelector("[data-modules]");
  if (!place) return;
  // As a plain button, it does not send the form.
  addButton(place).type = "button";
  addButton(place).addEventListener("click", () => {
    const number = numbers(place).findIndex((taken) => !taken);
    addModule(form, number + 1).querySelector("input").focus();
  });
  place.addEventListener("click", (event) => {
    if (!event.target.closest("[data-remove-module]")) return;
    event.target.closest("[data-module]").remove();
    addButton(place).hidden = false;
    addButton(place).focus();
    change();
  });
  for (const each of place.querySelectorAll("[data-remove-module]")) each.hidden = false;
}

/** The fields of module `number`, counted from 1, which are added if there are none. */
export function addModule(form, number) {
  const place = form.querySelector("[data-modules]");
  const name = `module-${number}`;
  const present = form.elements[name];
  if (present) return present.closest("[data-module]");
  const fields = place.querySelector("template").content.firstElementChild.cloneNode(true);
  for (const each of fields.querySelectorAll("[id], [for]")) {
    for (const attribute of ["id", "name", "for"]) {
      if (each.hasAttribute(attribute)) each.setAttribute(attribute, each.getAttribute(attribute).replace("module-0", name));
    }
  }
  fields.querySelector("legend").textContent = `Module ${number}`;
  fields.querySelector("[data-remove-module]").hidden = false;
  place.insertBefore(fields, place.querySelector("template"));
  addButton(place).hidden = numbers(place).every(Boolean);
  return fields;
}

const addButton = (place) => place.querySelector("[data-add-module]");

/** Returns for each number that a module can have whether it is taken. */
function numbers(place) {
  return Array.from({ length: Number(place.dataset.modules) }, (_, index) => place.querySelector(`#module-${index + 1}`) !== null);
}
