// What someone who writes in the editor needs beyond typing; loaded when it is focused for the first time.
import { autocompletion, closeBrackets, closeBracketsKeymap, completeAnyWord, completionKeymap } from "@codemirror/autocomplete";
import { pythonLanguage } from "@codemirror/lang-python";
import { codeFolding, foldGutter, foldKeymap, syntaxTree } from "@codemirror/language";
import { linter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, Prec } from "@codemirror/state";
import { crosshairCursor, keymap, rectangularSelection } from "@codemirror/view";
import { completeLibraryName } from "./completion.js";
// Loaded anyway. So everything that the editor needs stays in one part, which compresses better than several.
import "./editor.js";

const MOST_ERRORS = 20;

/** Where the parser had to skip something, or to guess that something is missing. */
function syntaxErrors({ state }) {
  const found = [];
  syntaxTree(state).iterate({
    enter({ type, from, to }) {
      if (!type.isError || found.length >= MOST_ERRORS) return;
      const line = state.doc.lineAt(from);
      // What is missing has no length: the character before it shows the place.
      const start = from === to ? Math.max(line.from, from - 1) : from;
      const end = Math.max(Math.min(to, line.to), Math.min(start + 1, state.doc.length));
      const text = state.sliceDoc(from, Math.min(to, line.to)).trim();
      const message = text ? `Syntax error at "${text.slice(0, 40)}"` : "Syntax error: something is missing here";
      found.push({ from: start, to: end, severity: "error", message });
    },
  });
  return found;
}

// From the third letter: a list for each `x` would take the keys that were meant for the text.
const completeWord = (context) => (context.explicit || context.matchBefore(/\w{3,}/) ? completeAnyWord(context) : null);

// Also where Escape closes a list of completions: after it, Tab leaves the editor.
const escape = keymap.of([{ key: "Escape", run: (view) => { view.setTabFocusMode(2000); return false; } }]);

export const loadExtras = () => [
  Prec.highest(escape),
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
];
