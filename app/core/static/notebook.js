// The programs of a lesson as cells: edited in their place, run without leaving the page. The form of each program does
// the work. The editor loads when a reader reaches a program.
import { fetchPatiently } from "./patience.js";
import { followEvents } from "./work_events.js";

const EVERY_MS = 1000;

class Cell {
  #section;
  #form;
  #area;
  #shown;
  #original;
  #editor = null;

  constructor(section) {
    this.#section = section;
    this.#form = section.querySelector(".change");
    this.#area = section.querySelector("textarea");
    this.#shown = section.querySelector(".cell pre");
    this.#original = this.#shown.textContent;
    if (this.#isChanged) this.#shown.firstChild.textContent = this.#area.value;
    section.addEventListener("focusin", () => import("./editor.js").catch(() => {}), { once: true });
    section.addEventListener("submit", (event) => this.#submit(event));
    section.querySelector("[data-edit]").addEventListener("click", () => this.#edit());
    section.querySelector("[data-reset]").addEventListener("click", () => this.#write(this.#original));
    this.#shown.addEventListener("click", () => { if (getSelection().isCollapsed) this.#edit(); });
    const cell = section.querySelector(".cell");
    // Handle the key before the editor does, for which Enter with a modifier is a new line.
    cell.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.target.closest("button")) return;
      const runs = event.ctrlKey || event.metaKey || event.shiftKey;
      if (!runs && this.#editor) return;
      event.preventDefault();
      event.stopPropagation();
      if (runs) this.#form.requestSubmit();
      else this.#edit();
    }, { capture: true });
    this.#poll();
  }

  get #isChanged() {
    return this.#area.value.trim() !== this.#original.trim();
  }

  #changed() {
    this.#section.querySelector("[data-reset]").hidden = !this.#isChanged;
  }

  #write(source) {
    this.#area.value = source;
    if (this.#editor) this.#editor.setValue(source);
    else this.#shown.firstChild.textContent = source;
    this.#changed();
  }

  async #edit() {
    if (this.#editor) return this.#editor.focus();
    let createEditor;
    try {
      ({ createEditor } = await import("./editor.js"));
    } catch {
      const details = this.#form.querySelector("details");
      details.classList.remove("unscripted");
      details.open = true;
      return;
    }
    if (this.#editor) return;
    const host = document.createElement("div");
    host.className = "cell-editor";
    this.#shown.replaceWith(host);
    this.#editor = createEditor(host, {
      value: this.#area.value.trimEnd(),
      label: this.#section.querySelector(`label[for=${this.#area.id}]`).textContent,
      description: "Escape, then Tab, leaves the editor",
      onChange: (text) => {
        this.#area.value = text;
        this.#changed();
      },
      onRun() {},
      onSubmit() {},
      historyKey: `meshgrade:history:${this.#form.action}#${this.#section.id}`,
    });
    this.#section.querySelector("[data-edit]").hidden = true;
    this.#editor.focus();
  }

  async #submit(event) {
    event.preventDefault();
    const form = event.target;
    const page = await this.#load(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    // Removing a run brings back the program of the lesson.
    if (page && form !== this.#form) this.#write(page.querySelector("textarea").value);
    if (page) this.#poll();
    else form.submit();
  }

  /** Shows the output of a page of this lesson. Returns its section, or null if the page is another one. */
  async #load(address, options) {
    try {
      const answer = await fetchPatiently(address, { ...options, headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const section = page.getElementById(this.#section.id);
      const [mine, theirs] = [this.#section, section].map((each) => each.querySelector(".output"));
      if (mine.innerHTML !== theirs.innerHTML) mine.replaceChildren(...theirs.childNodes);
      return section;
    } catch {
      return null;
    }
  }

  async #poll() {
    let going;
    while ((going = this.#section.querySelector("[data-going]"))) {
      const load = () => this.#load(location.pathname);
      const end = await followEvents(`/api/v1/lesson-runs/${going.dataset.going}`, load);
      if (!end) await new Promise((resolve) => { setTimeout(resolve, EVERY_MS); });
      await load();
    }
  }
}

for (const each of document.querySelectorAll("[data-program]")) new Cell(each);
