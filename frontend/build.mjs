// Bundles editor.js into one file. `npm run build -- FOLDER` writes elsewhere, so that a test can compare.
import { build } from "esbuild";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const folder = path.resolve(process.argv[2] ?? path.join(here, "../app/web/static"));

/** The licence of every package whose code is in the bundle, as one comment. */
async function licences(inputs) {
  const names = new Set();
  for (const input of Object.keys(inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) names.add(found[1]);
  }
  const packagesByLicence = new Map();
  for (const name of [...names].sort()) {
    const home = path.join(here, "node_modules", name);
    const { version } = JSON.parse(await readFile(path.join(home, "package.json"), "utf8"));
    const file = (await readdir(home)).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no licence file; the bundle must carry one`);
    const text = (await readFile(path.join(home, file), "utf8")).replaceAll("\r\n", "\n").trim();
    packagesByLicence.set(text, [...(packagesByLicence.get(text) ?? []), `${name} ${version}`]);
  }
  const parts = [...packagesByLicence].map(([text, packages]) => `${packages.join(", ")}:\n\n${text}`);
  return `/*!\n${parts.join("\n\n----\n\n").replaceAll("*/", "* /")}\n*/`;
}

const options = {
  absWorkingDir: here,
  entryPoints: ["editor.js"],
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "inline",
};
const { metafile } = await build({ ...options, metafile: true, write: false });
await build({ ...options, banner: { js: await licences(metafile.inputs) }, outfile: path.join(folder, "editor.js") });
