// Two attempts side by side, below the list that they were chosen from. Without this, the list leads to a page of its own.
import { fetchPage, GradingError } from "./grading.js";

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const box = document.querySelector("[data-compared]");
  if (form.id !== "compare" || !box) return;
  event.preventDefault();
  try {
    const page = await fetchPage(`/attempts/compare?${new URLSearchParams(new FormData(form))}`);
    for (const style of page.querySelectorAll("link[rel=stylesheet]")) {
      if (!document.querySelector(`link[href="${style.getAttribute("href")}"]`)) document.head.append(style);
    }
    const compared = page.querySelector(".compared-attempts");
    const heading = document.createElement("h3");
    heading.textContent = "A and B compared";
    heading.tabIndex = -1;
    box.replaceChildren(heading, compared);
    heading.focus({ preventScroll: true });
    heading.scrollIntoView({ block: "start" });
  } catch (error) {
    if (!(error instanceof GradingError)) throw error;
    const message = document.createElement("p");
    message.className = "notice bad";
    message.setAttribute("role", "alert");
    message.textContent = error.message;
    box.replaceChildren(message);
  }
});
