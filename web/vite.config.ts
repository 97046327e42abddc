import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// The address of a running `kindred serve`, for `npm run dev`.
const server = process.env.KINDRED ?? 'http://127.0.0.1:8722';

export default defineConfig({
  plugins: [svelte()],
  build: {
    target: 'es2022',
    // The content security policy allows no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: Object.fromEntries(['/api', '/stories.xml', '/stories.json'].map((path) => [path, server])),
  },
});
