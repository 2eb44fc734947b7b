// Lines that a verdict names: coloured, with the reason as a tooltip, and moved along with the text.
import { RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, lineNumberMarkers } from "@codemirror/view";

const change = StateEffect.define();

class Sign extends GutterMarker {
  elementClass = "cm-marked-number";
}
const sign = new Sign();

const field = StateField.define({
  create: () => Decoration.none,
  update(lines, transaction) {
    let now = lines.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(change)) now = effect.value;
    return now;
  },
  provide: (self) => [
    EditorView.decorations.from(self),
    lineNumberMarkers.compute([self], (state) => {
      const builder = new RangeSetBuilder();
      for (const cursor = state.field(self).iter(); cursor.value; cursor.next()) builder.add(cursor.from, cursor.from, sign);
      return builder.finish();
    }),
  ],
});

export const marks = field;

export function setMarks(view, list) {
  const { doc } = view.state;
  const textByLine = new Map();
  for (const { line, text } of list) {
    if (line >= 1 && line <= doc.lines) textByLine.set(line, [...(textByLine.get(line) ?? []), text]);
  }
  const ranges = [...textByLine].map(([line, texts]) => Decoration.line({
    class: "cm-marked",
    attributes: { title: texts.join("\n") },
  }).range(doc.line(line).from));
  view.dispatch({ effects: change.of(Decoration.set(ranges, true)) });
}
