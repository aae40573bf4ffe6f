// One page with everything inside: script and style are written into the HTML, so that the file opens from disk.

import { defineConfig, type Plugin } from 'vite';

function inlineEverything(): Plugin {
  return {
    name: 'inline-everything',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const page = bundle['index.html'];
      if (page?.type !== 'asset') throw new Error('there is no page');
      let html = String(page.source);
      for (const [name, item] of Object.entries(bundle)) {
        if (item === page) continue;
        const text = item.type === 'chunk' ? item.code : String(item.source);
        // a function, so that `$` in the text is nothing special
        if (name.endsWith('.js'))
          html = html.replace(new RegExp(`<script[^>]*src="[^"]*${name}"[^>]*></script>`), '').replace('</body>', () =>
            `<script type="module">${text.replaceAll('</script', '<\\/script')}</script>\n</body>`);
        else if (name.endsWith('.css'))
          html = html.replace(new RegExp(`<link[^>]*href="[^"]*${name}"[^>]*>`), () => `<style>${text}</style>`);
        else throw new Error(`${name} cannot be written into the page`);
        delete bundle[name];
      }
      page.source = html;
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [inlineEverything()],
  build: {
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1 << 20,
    chunkSizeWarningLimit: 900,
    rollupOptions: { output: { inlineDynamicImports: true, entryFileNames: 'viewer.js', assetFileNames: 'viewer.[ext]' } },
  },
});
