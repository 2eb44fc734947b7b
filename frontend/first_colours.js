// Colours Python well enough to read, until extras.js has loaded its grammar.
import { RangeSetBuilder, StateField } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";

const WORDS = "and as assert async await break class continue def del elif else except finally for from global if import in is "
  + "lambda nonlocal not or pass raise return try while with yield None";
// The match that begins first wins, and nothing inside it is matched again.
const KINDS = {
  comment: /#.*/,
  string: /(?:\b[rbfu]{1,2})?(?:"""[^]*?(?:"""|$(?![^]))|'''[^]*?(?:'''|$(?![^]))|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/,
  meta: /^[ \t]*@/,
  definition: /(?<=\b(?:def|class) +)\w+/,
  keyword: new RegExp(`\\b(?:${WORDS.replaceAll(" ", "|")})\\b`),
  bool: /\b(?:True|False)\b/,
  number: /\b(?:0x[\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)/,
};
const TOKENS = new RegExp(Object.entries(KINDS).map(([kind, { source }]) => `(?<${kind}>${source})`).join("|"), "gm");
const MARKS = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, Decoration.mark({ class: `tok-${kind}` })]));

function colour({ doc }) {
  const colours = new RangeSetBuilder();
  for (const { 0: text, index, groups } of doc.toString().matchAll(TOKENS)) {
    const kind = Object.keys(groups).find((each) => groups[each] !== undefined);
    colours.add(index, index + text.length, MARKS[kind]);
  }
  return colours.finish();
}

export const firstColours = StateField.define({
  create: colour,
  update: (colours, { docChanged, state }) => (docChanged ? colour(state) : colours),
  provide: (field) => EditorView.decorations.from(field),
});
