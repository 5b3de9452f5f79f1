// Builds the pages' scripts and styles into dist/ (or the folder given): one self-contained script and one
// style sheet a page, the same bytes whenever the sources and package-lock.json are the same.
import { build } from 'vite';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ? resolve(process.argv[2]) : resolve(here, 'dist');

for (const [index, page] of ['report', 'explore'].entries())
  await build({
    root: here,
    configFile: false,
    envFile: false,
    logLevel: 'warn',
    publicDir: false,
    build: {
      outDir: out,
      emptyOutDir: index === 0,
      target: 'es2020',
      assetsInlineLimit: 0,
      cssCodeSplit: false,
      reportCompressedSize: false,
      lib: {
        entry: resolve(here, 'src', `${page}.js`),
        formats: ['iife'],
        name: 'replisimPage',
        fileName: () => `${page}.js`,
        cssFileName: page,
      },
    },
  });
