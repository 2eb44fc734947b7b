// Colours the lines that a verdict names, with the reason as a tooltip, and moves the colours along with the text. Also
// puts a dot beside lines that cost something or stop the program, and the words after the line if there is room.
import { RangeSet, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, gutter, GutterMarker, lineNumberMarkers, ViewPlugin, WidgetType } from "@codemirror/view";

// The kind of a note whose line stops the program.
const BAD = "bad";
// Words may be cut off, but not shorter than this.
const LEAST_PX = 120;
const MARGIN_PX = 8;

const change = StateEffect.define();

class Sign extends GutterMarker {
  elementClass = "cm-marked-number";
}
const sign = new Sign();
class BadNumber extends GutterMarker {
  elementClass = "cm-bad-number";
}
const badNumber = new BadNumber();

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

const changeNotes = StateEffect.define();
const changeLit = StateEffect.define();

/**
 * The cost of the line that had this number when it was compiled, or why it stops the program; empty for a line that is
 * only pointed at. The kind is a class of theme.js, `cm-kind-...`.
 */
class Note extends GutterMarker {
  constructor(line, text, kind) {
    super();
    this.line = line;
    this.text = text;
    this.kind = kind;
  }

  eq(other) {
    return this.line === other.line && this.text === other.text && this.kind === other.kind;
  }

  toDOM() {
    const dot = document.createElement("span");
    if (this.text) dot.className = `cm-dot cm-kind-${this.kind}`;
    dot.title = this.text;
    return dot;
  }
}

/** What a note says, after the end of its line. It is no text of the line, so nothing selects or reads it as code. */
class Words extends WidgetType {
  constructor({ text, kind }) {
    super();
    this.text = text;
    this.kind = kind;
  }

  eq(other) {
    return this.text === other.text && this.kind === other.kind;
  }

  toDOM() {
    const words = document.createElement("span");
    words.className = `cm-words cm-kind-${this.kind}`;
    words.dataset.words = this.text;
    words.setAttribute("aria-hidden", "true");
    return words;
  }

  ignoreEvent() {
    return false;
  }
}

function wordsOf(state) {
  const found = [];
  for (const cursor = state.field(notes).iter(); cursor.value; cursor.next()) {
    if (cursor.value.text) found.push(Decoration.widget({ widget: new Words(cursor.value), side: 1 }).range(state.doc.lineAt(cursor.from).to));
  }
  return Decoration.set(found, true);
}

/** Shows the words that have room between the end of their line and the edge of the editor. */
const fitting = ViewPlugin.fromClass(class {
  constructor(view) {
    this.fit(view);
  }

  update({ view, geometryChanged, docChanged, viewportChanged, startState, state }) {
    if (geometryChanged || docChanged || viewportChanged || startState.field(notes) !== state.field(notes)) this.fit(view);
  }

  fit(view) {
    view.requestMeasure({
      key: this,
      read: () => {
        const { scrollDOM } = view;
        const end = scrollDOM.getBoundingClientRect().left + scrollDOM.clientWidth - scrollDOM.scrollLeft - MARGIN_PX;
        return [...view.contentDOM.querySelectorAll(".cm-words")].map((words) => {
          const room = end - words.getBoundingClientRect().left;
          return [words, room >= Math.min(LEAST_PX, words.scrollWidth) ? Math.floor(room) : 0];
        });
      },
      write: (found) => { for (const [words, room] of found) words.style.maxWidth = `${room}px`; },
    });
  }
});

const notes = StateField.define({
  create: () => RangeSet.empty,
  update(now, transaction) {
    const moved = now.map(transaction.changes);
    return transaction.effects.find((effect) => effect.is(changeNotes))?.value ?? moved;
  },
  provide: (self) => [
    EditorView.decorations.compute([self], wordsOf),
    lineNumberMarkers.compute([self], (state) => {
      const builder = new RangeSetBuilder();
      for (const cursor = state.field(self).iter(); cursor.value; cursor.next()) {
        if (cursor.value.kind === BAD) builder.add(cursor.from, cursor.from, badNumber);
      }
      return builder.finish();
    }),
  ],
});

const lit = StateField.define({
  create: () => Decoration.none,
  update: (now, transaction) => transaction.effects.find((effect) => effect.is(changeLit))?.value ?? now.map(transaction.changes),
  provide: (self) => EditorView.decorations.from(self),
});

/** The number that the line at this position had when it was compiled, or null. */
function compiledLine(state, position) {
  const { from, to } = state.doc.lineAt(position);
  let found = null;
  state.field(notes).between(from, to, (_, __, note) => { found = note.line; });
  return found;
}

/** The extension for marks and notes. It calls `onPoint(line, isCursor)` for the line under the pointer or the cursor. */
export function marks(onPoint) {
  let before;
  const point = (view, position, isCursor) => {
    const line = position === null ? null : compiledLine(view.state, position);
    if (line !== before || isCursor) onPoint(line, isCursor);
    before = line;
  };
  return [
    field,
    notes,
    lit,
    fitting,
    gutter({
      class: "cm-dots",
      markers: (view) => view.state.field(notes),
      domEventHandlers: {
        mousemove: (view, block) => { point(view, block.from, false); return false; },
        mouseleave: (view) => { point(view, null, false); return false; },
      },
    }),
    EditorView.domEventHandlers({
      mousemove: (event, view) => { point(view, view.posAtCoords({ x: event.clientX, y: event.clientY }), false); },
      mouseleave: (_, view) => { point(view, null, false); },
    }),
    EditorView.updateListener.of((update) => {
      if (update.selectionSet && update.view.hasFocus) point(update.view, update.state.selection.main.head, true);
    }),
  ];
}

/** Sets the notes from a list of { line, text, kind }: what a line costs, or an empty text if it can only be pointed at. */
export function setNotes(view, list) {
  const { doc } = view.state;
  const ranges = list.filter(({ line }) => line >= 1 && line <= doc.lines)
    .map(({ line, text, kind }) => new Note(line, text, kind).range(doc.line(line).from));
  view.dispatch({ effects: changeNotes.of(RangeSet.of(ranges, true)) });
}

/** Highlights the line that had this number when it was compiled; null highlights none. */
export function light(view, line) {
  const ranges = [];
  const cursor = view.state.field(notes).iter();
  for (; cursor.value; cursor.next()) {
    const start = view.state.doc.lineAt(cursor.from).from;
    if (cursor.value.line === line) ranges.push(Decoration.line({ class: "cm-lit" }).range(start));
  }
  view.dispatch({ effects: changeLit.of(Decoration.set(ranges.slice(0, 1))) });
}

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
