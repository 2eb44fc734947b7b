// The problems of an assignment: rows are added, moved and removed without a round trip, by buttons or by dragging.

function place(row) {
  return [...row.parentElement.children].indexOf(row) + 1;
}

function attach(picker) {
  const rows = picker.querySelector("[data-picked]");
  const input = picker.querySelector("#add");
  const said = picker.querySelector("[data-said]");
  const options = [...picker.querySelectorAll("datalist option")];
  let last = rows.children.length;

  const title = (row) => row.querySelector("[data-title]").textContent;
  const tell = (row) => {
    said.textContent = `${title(row)}: ${place(row)} of ${rows.children.length}`;
  };

  function find(text) {
    const sought = text.trim().toLowerCase();
    const exact = options.find((each) => sought === each.value || sought === each.text.toLowerCase());
    const parts = options.filter((each) => each.value.includes(sought) || each.text.toLowerCase().includes(sought));
    return exact ?? (parts.length === 1 ? parts[0] : null);
  }

  function add(found) {
    const row = picker.querySelector("template").content.firstElementChild.cloneNode(true);
    last += 1;
    for (const each of row.querySelectorAll("[name^=problem-], [name^=points-]")) each.name = each.name.replace("-0", `-${last}`);
    for (const each of row.querySelectorAll("button")) each.value = each.value.replace("-0", `-${last}`);
    for (const each of row.querySelectorAll("[data-title]")) each.textContent = found.map((it) => it.text).join(" or ");
    row.querySelector("[data-about]").textContent = [...new Set(found.map((it) => it.dataset.about ?? ""))].join("; ");
    row.querySelector("[type=hidden]").value = found.map((it) => it.value).join(" | ");
    rows.append(row);
    prepare(row);
    tell(row);
  }

  function move(row, step) {
    if (step === "up") row.previousElementSibling?.before(row);
    else row.nextElementSibling?.after(row);
    tell(row);
  }

  function remove(row) {
    const beside = row.nextElementSibling ?? row.previousElementSibling;
    said.textContent = `${title(row)} removed`;
    row.remove();
    (beside?.querySelector("button[value^=remove]") ?? input).focus();
  }

  // Pointer events, because a finger cannot drag with those of HTML.
  function drag(row, grip) {
    grip.hidden = false;
    grip.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      grip.setPointerCapture(event.pointerId);
      row.classList.add("is-dragged");
    });
    grip.addEventListener("pointermove", (event) => {
      if (!grip.hasPointerCapture(event.pointerId)) return;
      const middle = (each) => each.getBoundingClientRect().top + each.getBoundingClientRect().height / 2;
      const below = [...rows.children].find((each) => each !== row && event.clientY < middle(each)) ?? null;
      if (below !== row.nextElementSibling) {
        rows.insertBefore(row, below);
        // A row that moves in the document loses its pointer.
        grip.setPointerCapture(event.pointerId);
      }
    });
    for (const end of ["pointerup", "pointercancel"]) {
      grip.addEventListener(end, () => {
        row.classList.remove("is-dragged");
        tell(row);
      });
    }
  }

  function prepare(row) {
    drag(row, row.querySelector("[data-grip]"));
    for (const button of row.querySelectorAll("button")) {
      button.addEventListener("click", (event) => {
        event.preventDefault();
        const step = button.value.split("-")[0];
        if (step === "remove") return remove(row);
        move(row, step);
        button.focus();
      });
    }
  }

  for (const row of rows.children) prepare(row);
  picker.querySelector("button[value=add]").addEventListener("click", (event) => {
    const found = input.value.trim() ? input.value.split("|").map(find) : [];
    // The server says what is wrong with anything else.
    if (!found.length || found.includes(null)) return;
    event.preventDefault();
    add(found);
    input.value = "";
    input.focus();
  });
}

document.querySelectorAll("[data-picker]").forEach(attach);
