// Where the reader writes: the page's text area, until the editor has loaded and takes its place.
import { EditorMenu } from "./editor_menu.js";

/** The text area and the editor as one. What only the editor can do is ignored, or done once it has loaded. */
export class CodeBox {
  #area;
  #host;
  #editor = null;
  #menu;
  #marks = [];
  #notes = [];
  #options;

  /**
   * `on` has three functions: `change(source)`, `run()` and `submit()`. A fourth is optional: `point(line, isCursor)`
   * says which of the lines with a note the pointer or the cursor is on. A second box of a form names its element `box`,
   * and takes part in the `menu` of the first.
   */
  constructor(form, source, on, { box = form.querySelector(".editor"), menu } = {}) {
    this.#area = box.querySelector("textarea");
    this.#host = box.querySelector("[data-editor]");
    this.#options = {
      label: form.querySelector(`label[for=${this.#area.id}]`).textContent,
      description: "Escape, then Tab, leaves the editor",
      language: this.#host.dataset.language,
      onChange: (text) => {
        this.#area.value = text;
        on.change(text);
      },
      onRun: on.run,
      onSubmit: on.submit,
      onPoint: on.point,
      historyKey: `meshgrade:history:${form.dataset.slug}${menu ? `:${this.#area.id}` : ""}`,
    };
    this.#menu = menu ?? new EditorMenu(form, this);
    if (menu) menu.join(box, this);
    if (this.#area.value !== source) this.#area.value = source;
    this.#area.addEventListener("input", () => on.change(this.#area.value));
    this.#area.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      (event.shiftKey ? on.submit : on.run)();
    });
    this.#load();
  }

  /** The menu, which another box can join. */
  get menu() {
    return this.#menu;
  }

  value() {
    return this.#editor ? this.#editor.value() : this.#area.value;
  }

  setValue(source) {
    if (this.#editor) this.#editor.setValue(source);
    else if (this.#area.value !== source) {
      this.#area.value = source;
      this.#options.onChange(source);
    }
  }

  focus() {
    (this.#editor ?? this.#area).focus();
  }

  /** Marks the lines in a list of { line, text }, and removes earlier marks. */
  setMarks(marks) {
    this.#marks = marks;
    this.#editor?.setMarks(marks);
  }

  /** Marks what lines cost, a list of { line, text, kind }, and removes earlier notes. */
  setNotes(notes) {
    this.#notes = notes;
    this.#editor?.setNotes(notes);
  }

  /** Highlights the line that had this number when the notes were set; null highlights none. */
  light(line) {
    this.#editor?.light(line);
  }

  /** Puts the cursor on a line. */
  jump(line) {
    if (this.#editor) return this.#editor.jump(line);
    const start = this.#area.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    this.#area.setSelectionRange(start, start);
    this.#area.focus();
  }

  configure(settings) {
    this.#editor?.configure(settings);
  }

  async #load() {
    let composing = false;
    this.#area.addEventListener("compositionstart", () => { composing = true; });
    this.#area.addEventListener("compositionend", () => { composing = false; });
    let createEditor;
    try {
      ({ createEditor } = await import("./editor.js"));
    } catch {
      return; // The text area does everything that is needed.
    }
    // Wait for an input method, which would lose its half-typed word.
    while (composing) await new Promise((resolve) => { this.#area.addEventListener("compositionend", resolve, { once: true }); });
    const { value, selectionStart, selectionEnd, scrollTop } = this.#area;
    const isFocused = document.activeElement === this.#area;
    this.#host.hidden = false;
    this.#editor = createEditor(this.#host, { ...this.#options, value, selectionStart, selectionEnd, scrollTop });
    this.#area.hidden = true;
    document.querySelector(`label[for=${this.#area.id}]`).hidden = true;
    this.#menu.apply();
    this.#editor.setMarks(this.#marks);
    this.#editor.setNotes(this.#notes);
    if (isFocused) this.#editor.focus();
  }
}
