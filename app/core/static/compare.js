// Two attempts side by side, below the list that they were chosen from.
import { showPart } from "./page_part.js";

document.addEventListener("submit", (event) => {
  const form = event.target;
  const box = document.querySelector("[data-compared]");
  if (form.id !== "compare" || !box) return;
  event.preventDefault();
  showPart(box, `/attempts/compare?${new URLSearchParams(new FormData(form))}`, ".compared-attempts", "A and B compared");
});
