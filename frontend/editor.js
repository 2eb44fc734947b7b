// The code editor of the problem page: CodeMirror 6, cut down to what it takes to show one Python file. extras.js has
// what only writing needs, and is loaded when the reader first moves the pointer, presses a key or scrolls.
import { Compartment, EditorSelection, EditorState, Prec } from "@codemirror/state";
import {
  drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
import { firstColours } from "./first_colours.js";
import { light, marks, setMarks, setNotes } from "./marks.js";
import { theme } from "./theme.js";

const INDENT = 4;
// Larger histories would fill the few megabytes that a browser stores for a site.
const MOST_STORED = 500_000;

/** Tab writes spaces up to the next stop. With a selection, extras.js indents it. Escape, then Tab, leaves the editor. */
function indent(view) {
  const { state } = view;
  const unit = state.tabSize;
  view.dispatch(state.changeByRange((range) => {
    const column = range.head - state.doc.lineAt(range.head).from;
    const spaces = unit - (column % unit);
    return {
      changes: { from: range.head, insert: " ".repeat(spaces) },
      range: EditorSelection.cursor(range.head + spaces),
    };
  }), { scrollIntoView: true, userEvent: "input" });
  return true;
}

/**
 * Replaces a selection that the reader types over and, until extras.js brings its keys, makes every change: the state
 * may not know yet what the browser selected. Chromium itself would keep the colours of the text in a style attribute,
 * which the content security policy refuses with a complaint in the console.
 */
const changeOurselves = (hasKeys) => EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (view.composing || view.state.readOnly) return false;
    // Chromium names no range for the text that an input method commits.
    const range = event.getTargetRanges()[0] ?? selectedRange(view);
    const isUnknown = event.inputType === "insertText" && view.state.selection.main.empty && !range?.collapsed;
    if (range && (isUnknown || !hasKeys()) && /^delete|^insert(Text|Paragraph|LineBreak)$/.test(event.inputType)) {
      event.preventDefault();
      const from = view.posAtDOM(range.startContainer, range.startOffset);
      const to = view.posAtDOM(range.endContainer, range.endOffset);
      const insert = { insertText: event.data, insertParagraph: "\n", insertLineBreak: "\n" }[event.inputType] ?? "";
      view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length }, scrollIntoView: true });
      return true;
    }
    if (event.inputType !== "insertText" || !event.data) return false;
    if (view.state.selection.ranges.every((range) => range.empty)) return false;
    event.preventDefault();
    // Ask extensions first, such as the one that puts brackets around a selection.
    const { from, to } = view.state.selection.main;
    const insert = () => view.state.update(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    if (!view.state.facet(EditorView.inputHandler).some((handler) => handler(view, from, to, event.data, insert))) view.dispatch(insert());
    return true;
  },
});

/** What the browser selected in the editor, or undefined. Only Chromium has a selection of its own for a shadow root. */
function selectedRange(view) {
  const selection = view.root.getSelection?.();
  return selection?.rangeCount && view.contentDOM.contains(selection.anchorNode) ? selection.getRangeAt(0) : undefined;
}

/** The state of the tab before a reload, with what can be undone, if its text is the one that the editor begins with. */
function storedState(key, value) {
  try {
    const stored = JSON.parse(sessionStorage.getItem(key));
    return stored?.doc === value ? stored : null;
  } catch {
    return null; // The browser forbids storage, or another release stored the entry.
  }
}

function keepHistory(key, view, historyField) {
  try {
    const text = JSON.stringify(view.state.toJSON({ history: historyField }));
    if (text.length > MOST_STORED) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  } catch {
    // Storage is full or forbidden: only undo across a reload is lost.
  }
}

/**
 * Puts an editor into `host`.
 *
 * It lives in a shadow root because CodeMirror adopts constructed style sheets there; in a plain document it
 * writes a <style> element, which the content security policy refuses.
 *
 * `selectionStart`, `selectionEnd` and `scrollTop` are those of the text area, and `historyKey` names the history.
 * `language` is `python` by default, `toml` or `markdown`. Any other value has no colours.
 */
export function createEditor(host, options) {
  const { value, label, description, onChange, onRun, onSubmit, historyKey, language = "python" } = options;
  const root = host.attachShadow({ mode: "open", delegatesFocus: true });
  const [extras, width, wrapping, modes, colours] = Array.from({ length: 5 }, () => new Compartment());
  const shortcuts = [
    { key: "Mod-Enter", run: () => { onRun(); return true; } },
    { key: "Shift-Mod-Enter", run: () => { onSubmit(); return true; } },
    { key: "Tab", run: indent },
  ];
  const extensions = [
    Prec.highest(keymap.of(shortcuts.slice(0, 2))),
    modes.of([]),
    extras.of([]),
    keymap.of(shortcuts),
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    drawSelection(),
    changeOurselves(() => hasExtras),
    width.of(EditorState.tabSize.of(INDENT)),
    wrapping.of([]),
    highlightActiveLine(),
    marks(options.onPoint ?? (() => {})),
    colours.of(language === "python" ? firstColours : []),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-description": description, tabindex: "0" }),
    EditorView.updateListener.of((update) => { if (update.docChanged) onChange(view.state.doc.toString()); }),
    theme,
  ];
  const stored = storedState(historyKey, value);
  const start = { anchor: options.selectionStart ?? 0, head: options.selectionEnd ?? 0 };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({ doc: value, selection: stored?.selection ? EditorSelection.fromJSON(stored.selection) : start, extensions }),
  });
  if (language === "toml" || language === "markdown") {
    import("./languages.js").then(({ highlight }) => view.dispatch({ effects: colours.reconfigure(highlight(language)) }));
  }
  let hasVim = false;
  view.scrollDOM.scrollTop = options.scrollTop ?? 0;
  let [loading, hasExtras, annotations] = [null, false, []];
  const load = () => loading ??= import("./extras.js").then(({ historyField, isolated, loadExtras, python }) => {
    const grammar = language === "python" ? [colours.reconfigure(python)] : [];
    view.dispatch({ effects: [extras.reconfigure(loadExtras(stored, view.state)), ...grammar] });
    hasExtras = true;
    annotations = [isolated];
    addEventListener("pagehide", () => keepHistory(historyKey, view, historyField));
  }).catch(() => { loading = null; }); // If there was no network, the next focus tries again.
  host.addEventListener("focusin", load);
  for (const sign of ["pointermove", "pointerdown", "keydown", "scroll"]) addEventListener(sign, load, { once: true, passive: true });
  if (stored) load();
  return {
    value: () => view.state.doc.toString(),
    setValue: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, annotations }),
    focus: () => view.focus(),
    /** Marks the lines in a list of { line, text, kind }, and removes earlier marks. */
    setMarks: (list) => setMarks(view, list),
    /** Marks what lines cost, a list of { line, text, kind }, and removes earlier notes. */
    setNotes: (list) => setNotes(view, list),
    /** Highlights the line that had this number when the notes were set. */
    light: (line) => light(view, line),
    /** Puts the cursor on a line and shows it in the middle. */
    jump(line) {
      const { from } = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines));
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      view.focus();
    },
    /** `tab` is the width of an indentation, `wrap` breaks long lines, and `vim` loads Vim's keys. */
    async configure({ tab, wrap, vim }) {
      view.dispatch({
        effects: [width.reconfigure(EditorState.tabSize.of(tab)), wrapping.reconfigure(wrap ? EditorView.lineWrapping : [])],
      });
      view.requestMeasure();
      if (Boolean(vim) === hasVim) return;
      hasVim = Boolean(vim);
      const keys = vim ? (await import("./vim.js")).loadVim(onRun) : [];
      // The reader may have switched it off while it was loading.
      if (hasVim === Boolean(vim)) view.dispatch({ effects: modes.reconfigure(keys) });
    },
  };
}
