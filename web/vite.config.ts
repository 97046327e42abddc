import { svelte } from '@sveltejs/vite-plugin-svelte';
import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';

// The address of a running `kindred serve`, for `npm run dev`.
const server = process.env.KINDRED ?? 'http://127.0.0.1:8722';

// Vite's own scripts run after the first paint; a theme that was chosen has to be there before it.
function themeFirst(): Plugin {
  return {
    name: 'theme-first',
    apply: 'build',
    buildStart() {
      this.emitFile({ type: 'asset', name: 'theme.js', source: readFileSync('src/theme_first.js', 'utf8') });
    },
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle }) {
        const file = Object.keys(bundle ?? {}).find((name) => /theme-[^/]*\.js$/.test(name));
        return file ? [{ tag: 'script', attrs: { src: `/${file}` }, injectTo: 'head' }] : [];
      },
    },
  };
}

export default defineConfig({
  plugins: [svelte(), themeFirst()],
  build: {
    target: 'es2022',
    // The content security policy allows no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The page of `kindred serve`, and that of `kindred router`.
    rollupOptions: { input: ['index.html', 'shards.html'] },
  },
  server: {
    proxy: Object.fromEntries(['/api', '/stories.xml', '/stories.json'].map((path) => [path, server])),
  },
});
