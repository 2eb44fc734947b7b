// Colours come from the custom properties of tokens.css, which cross into the shadow root: dark mode needs no script.
import { EditorView } from "@codemirror/view";

export const theme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--surface)", height: "100%", fontSize: "var(--text-written, var(--text-code))" },
  // Draw it above the gutters, which would cover an outline.
  "&.cm-focused": { outline: "none" },
  "&.cm-focused::after": {
    content: "''", position: "absolute", inset: "0", zIndex: "300", border: "2px solid var(--focus)", pointerEvents: "none",
  },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", paddingBlock: "0.5rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--ink-soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--code-line)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--selection)",
  },
  // Reserve the width of the folding arrows, which are loaded later, so that the text does not move then.
  ".cm-gutters:not(:has(.cm-foldGutter))": { paddingLeft: "1rem" },
  ".cm-foldGutter": { width: "1rem" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--sunken)", color: "var(--ink-soft)", border: "1px solid var(--line)" },
  ".cm-marked": { backgroundColor: "var(--bad-soft)" },
  ".cm-marked-number": { backgroundColor: "var(--bad-soft)", color: "var(--bad)", fontWeight: "700" },
  ".cm-bad-number": { color: "var(--bad)", fontWeight: "700" },
  ".cm-dots": { width: "0.875rem" },
  ".cm-dots .cm-gutterElement": { display: "grid", placeItems: "center" },
  ".cm-dot": { width: "0.5rem", height: "0.5rem", borderRadius: "50%", backgroundColor: "currentcolor" },
  // It has no place in the line, and so widens nothing. marks.js gives it the width that is left.
  ".cm-words": {
    position: "absolute", maxWidth: "0", overflow: "hidden", lineHeight: "calc(1.5 * var(--text-written, var(--text-code)))",
    fontFamily: "var(--sans)", fontSize: "var(--text-xs)", textOverflow: "ellipsis", whiteSpace: "nowrap",
  },
  ".cm-words::before": { content: "attr(data-words)", paddingLeft: "1.25rem" },
  ".cm-kind-0": { color: "var(--line-strong)" },
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((kind) => [`.cm-kind-${kind}`, { color: `var(--kind-${kind})` }])),
  ".cm-kind-bad": { color: "var(--bad)" },
  ".cm-words:not(.cm-kind-bad)": { color: "var(--ink-soft)" },
  // Forty columns of code on a phone.
  "@media (max-width: 30rem)": {
    ".cm-foldGutter": { display: "none !important" },
    ".cm-gutters.cm-gutters": { paddingLeft: "0" },
    ".cm-lineNumbers .cm-gutterElement": { minWidth: "0", paddingInline: "2px 1px" },
    ".cm-dots": { width: "0.5rem" },
    ".cm-dot": { width: "0.4375rem", height: "0.4375rem" },
    ".cm-line": { paddingInline: "4px 0" },
  },
  ".cm-lit": { backgroundColor: "var(--selection)" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--line-strong)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxWidth: "min(36rem, 90vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)", color: "var(--accent-ink)",
  },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "0.8" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-selectionMatch, .cm-searchMatch": { backgroundColor: "var(--match)" },
  ".cm-searchMatch-selected": { outline: "2px solid var(--focus)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--match)" },
  ".cm-panels": { backgroundColor: "var(--page)", color: "var(--ink)", borderBottom: "1px solid var(--line)" },
  ".cm-textfield": { backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--line-strong)" },
  ".cm-button": {
    backgroundImage: "none", backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--line-strong)",
  },
  ".cm-panel.cm-search [name=close]": { color: "var(--ink)" },
  ".tok-keyword": { color: "var(--code-keyword)" },
  ".tok-string, .tok-string2": { color: "var(--code-string)" },
  ".tok-number, .tok-bool, .tok-atom": { color: "var(--code-number)" },
  ".tok-comment": { color: "var(--code-comment)", fontStyle: "italic" },
  ".tok-definition, .tok-className, .tok-typeName": { color: "var(--code-name)" },
  ".tok-meta": { color: "var(--code-keyword)" },
});
