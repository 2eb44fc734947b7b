// Colours TOML and Markdown by single regular expressions. Only files in these languages load it.
import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";
// As in extras.js, this keeps what the editor needs in one part.
import "./editor.js";

// Each group of an expression gets the class at the same position.
const LANGUAGES = {
  toml: {
    classes: ["string", "comment", "keyword", "definition", "number"],
    pattern: /("""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?)|(#.*)|(^[ \t]*\[.*\][ \t]*$)|(^[ \t]*[\w.-]+(?=[ \t]*=))|\b(true|false|\d[\w.:+-]*)/gm,
  },
  markdown: {
    classes: ["string", "keyword", "number", "definition"],
    pattern: /(^```[^]*?(?:^```|(?![^]))|`[^`\n]+`)|(^#{1,6} .*)|(\$\$[^]*?\$\$|\$[^$\n]+\$)|(\*\*[^*\n]+\*\*|!?\[[^\]\n]*\]\([^)\n]*\))/gm,
  },
};

export function highlight(name) {
  const { classes, pattern } = LANGUAGES[name];
  const marks = classes.map((each) => Decoration.mark({ class: `tok-${each}` }));
  return EditorView.decorations.compute(["doc"], (state) => {
    const builder = new RangeSetBuilder();
    for (const found of state.doc.toString().matchAll(pattern)) {
      if (found[0]) builder.add(found.index, found.index + found[0].length, marks[found.slice(1).findIndex((each) => each !== undefined)]);
    }
    return builder.finish();
  });
}
