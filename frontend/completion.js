// Completes names of jax, flax.nnx and optax, with their signatures, from a file that library_names.py wrote.
import { syntaxTree } from "@codemirror/language";

let tables;
const load = () => (tables ??= fetch(new URL("../library_names.json", import.meta.url)).then((response) => response.json()));

// What these names usually stand for, unless something else is imported under them.
const USUAL = { jax: "jax", jnp: "jax.numpy", lax: "jax.lax", nnx: "flax.nnx", optax: "optax" };

/** What each imported name stands for: `{ jnp: "jax.numpy", P: "jax.sharding.PartitionSpec" }`. */
function importedNames(text) {
  const names = { ...USUAL };
  for (const [, module, alias] of text.matchAll(/^\s*import\s+([\w.]+)(?:\s+as\s+(\w+))?/gm)) {
    if (alias) names[alias] = module;
    else names[module.split(".")[0]] = module.split(".")[0];
  }
  for (const [, module, list] of text.matchAll(/^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*|[\w ,\t]+)/gm)) {
    for (const each of list.replace("(", "").split(",")) {
      const [name, alias] = each.trim().split(/\s+as\s+/);
      if (name) names[alias ?? name] = `${module}.${name}`;
    }
  }
  return names;
}

const kindOf = (name, signature) => (signature === "" ? "namespace" : /^[A-Z]/.test(name) ? "class" : "function");

const optionsOf = (table) => Object.entries(table).map(([label, detail]) => ({ label, detail, type: kindOf(label, detail) }));

export async function completeLibraryName(context) {
  const importing = context.matchBefore(/^\s*from\s+[\w.]+\s+import\s+[\w\s,]*/);
  if (importing) {
    const table = (await load())[/from\s+([\w.]+)/.exec(importing.text)[1]];
    const word = context.matchBefore(/\w*/);
    return table && (word.text || context.explicit) ? { from: word.from, options: optionsOf(table), validFor: /^\w*$/ } : null;
  }
  const path = context.matchBefore(/[A-Za-z_][\w.]*\.\w*/);
  if (!path || /String|Comment/.test(syntaxTree(context.state).resolveInner(context.pos, -1).name)) return null;
  const parts = path.text.split(".");
  const word = parts.pop();
  const stands = importedNames(context.state.doc.toString())[parts[0]];
  if (!stands) return null;
  const table = (await load())[[stands, ...parts.slice(1)].join(".")];
  return table ? { from: context.pos - word.length, options: optionsOf(table), validFor: /^\w*$/ } : null;
}
