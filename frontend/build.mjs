// Bundles editor.js, and what it loads later into editor/. `npm run build -- FOLDER` writes elsewhere, so that a test
// can compare. bundle.json has the digests of what was built and of what it was built from, so that a test sees without
// building, and without a network, whether the bundle is out of date.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const here = path.dirname(fileURLToPath(import.meta.url));
const folder = path.resolve(process.argv[2] ?? path.join(here, "../app/core/static"));

/** The licence of every package whose code is in the bundle. */
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
  return `${parts.join("\n\n----\n\n")}\n`;
}

/** Writes a compressed copy beside each file, as small as possible, because the service only sends it. */
async function compress(file) {
  const content = await readFile(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  await writeFile(`${file}.br`, brotliCompressSync(content, { params }));
}

// The grammar's package also completes names, in a way that is not used here. esbuild would keep what that imports in
// the chunk that every reader loads.
const withoutItsCompletion = {
  name: "without-its-completion",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@codemirror\/autocomplete$/ }, ({ importer, path: name }) => (
      importer.includes("lang-python") ? { path: name, namespace: "none" } : undefined
    ));
    onLoad({ filter: /./, namespace: "none" }, () => ({
      contents: "export const snippetCompletion = () => null, ifNotIn = snippetCompletion, completeFromList = snippetCompletion;",
    }));
  },
};

await rm(path.join(folder, "editor"), { recursive: true, force: true });
await mkdir(path.join(folder, "editor"));
const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: ["editor.js"],
  outdir: folder,
  bundle: true,
  splitting: true,
  chunkNames: "editor/[name]-[hash]",
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  banner: { js: "// Licences of the packages in this bundle: editor/licences.txt" },
  metafile: true,
  plugins: [withoutItsCompletion],
});
await writeFile(path.join(folder, "editor/licences.txt"), await licences(metafile.inputs));
for (const file of Object.keys(metafile.outputs)) await compress(path.resolve(here, file));

const digest = (content) => createHash("sha256").update(content).digest("hex");
const named = async (files, root) => Object.fromEntries(
  await Promise.all(files.sort().map(async (file) => [file, digest(await readFile(path.join(root, file)))])),
);
const own = Object.keys(metafile.inputs).filter((file) => /^[a-z_]+\.js$/.test(file));
// Leave out the entry of this package, which has the release's version.
const { "": _, ...packages } = JSON.parse(await readFile(path.join(here, "package-lock.json"), "utf8")).packages;
const built = Object.keys(metafile.outputs).map((file) => path.relative(folder, path.resolve(here, file)));
const sources = { ...(await named([...own, "build.mjs"], here)), packages: digest(JSON.stringify(packages)) };
const bundle = { sources, built: await named([...built, "editor/licences.txt"], folder) };
await writeFile(path.join(here, "bundle.json"), `${JSON.stringify(bundle, null, 1)}\n`);
