// What someone who writes in the editor needs beyond typing: the grammar, the history, keys, completion, search.
import { autocompletion, closeBrackets, closeBracketsKeymap, completeAnyWord, completionKeymap } from "@codemirror/autocomplete";
import {
  defaultKeymap, history, historyField, historyKeymap, indentLess, indentMore, isolateHistory,
} from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import {
  bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput, indentUnit, syntaxHighlighting, syntaxTree,
} from "@codemirror/language";
import { linter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, Prec } from "@codemirror/state";
import { crosshairCursor, keymap, rectangularSelection } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { completeLibraryName } from "./completion.js";
// This is loaded anyway. Importing it keeps what the editor needs in one part, which compresses better than several.
import "./editor.js";

const MOST_ERRORS = 20;

/** The places at which the parser had to skip something, or to guess that something is missing. */
function syntaxErrors({ state }) {
  const found = [];
  syntaxTree(state).iterate({
    enter({ type, from, to }) {
      if (!type.isError || found.length >= MOST_ERRORS) return;
      const line = state.doc.lineAt(from);
      // A missing part has no length, so mark the character before it.
      const start = from === to ? Math.max(line.from, from - 1) : from;
      const end = Math.max(Math.min(to, line.to), Math.min(start + 1, state.doc.length));
      const text = state.sliceDoc(from, Math.min(to, line.to)).trim();
      const message = text ? `Syntax error at "${text.slice(0, 40)}"` : "Syntax error: something is missing here";
      found.push({ from: start, to: end, severity: "error", message });
    },
  });
  return found;
}

// Complete from the third letter: a list for each `x` would take keys that were meant for the text.
const completeWord = (context) => (context.explicit || context.matchBefore(/\w{3,}/) ? completeAnyWord(context) : null);

// After Escape, Tab leaves the editor, even if Escape also closed a list of completions.
const escape = keymap.of([{ key: "Escape", run: (view) => { view.setTabFocusMode(2000); return false; } }]);

// Tab indents a selection. Without one, editor.js writes spaces.
const indentSelection = (view) => view.state.selection.ranges.some((range) => !range.empty) && indentMore(view);

/** Restores the history from `stored`, the JSON of the state before a reload or null, if `state` still has its text. */
function restored(stored, state) {
  if (stored?.doc !== state.doc.toString()) return [];
  try {
    const value = historyField.spec.fromJSON(stored.history, state);
    return historyField.init(() => value);
  } catch {
    return []; // Another release stored the entry.
  }
}

export { historyField };
/** Marks a change that is undone by itself, however soon it follows what was typed. */
export const isolated = isolateHistory.of("full");
export const python = [pythonLanguage, syntaxHighlighting(classHighlighter)];
export const loadExtras = (stored, state) => [
  Prec.highest(escape),
  restored(stored, state),
  history(),
  indentUnit.compute([EditorState.tabSize], ({ tabSize }) => " ".repeat(tabSize)),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  autocompletion({ icons: false }),
  [completeLibraryName, completeWord].map((autocomplete) => pythonLanguage.data.of({ autocomplete })),
  linter(syntaxErrors, { delay: 600 }),
  codeFolding(),
  foldGutter({ openText: "▾", closedText: "▸" }),
  EditorState.allowMultipleSelections.of(true),
  rectangularSelection(),
  crosshairCursor(),
  highlightSelectionMatches(),
  search({ top: true }),
  keymap.of([...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...foldKeymap, ...lintKeymap]),
  keymap.of([{ key: "Tab", run: indentSelection, shift: indentLess }, ...historyKeymap, ...defaultKeymap]),
];
