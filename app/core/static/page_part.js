// A part of another page, shown within this one. Without a script, the link or the form leads to that page.
import { fetchPage, GradingError } from "./grading.js";

/** Puts what `selector` finds at `url` into `box`, with its style sheets, below a heading that gets the focus. */
export async function showPart(box, url, selector, title) {
  try {
    const page = await fetchPage(url);
    for (const style of page.querySelectorAll("link[rel=stylesheet]")) {
      if (!document.querySelector(`link[href="${style.getAttribute("href")}"]`)) document.head.append(style);
    }
    const heading = document.createElement("h3");
    heading.textContent = title;
    heading.tabIndex = -1;
    box.replaceChildren(heading, page.querySelector(selector));
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
}
