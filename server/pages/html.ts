/** Little helpers for the pages: escaping, and the frame every page shares. No script or style comes from elsewhere. */

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

const STYLE = `
:root { color-scheme: light dark; --line: #8885; --soft: #8881; --accent: #2563eb; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0 } h2 { margin-top: 2rem }
a { color: var(--accent) }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top }
pre, textarea { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .7rem; overflow: auto; font: 13px/1.45 ui-monospace, monospace }
textarea { width: 100%; box-sizing: border-box; min-height: 9rem } pre { max-height: 24rem; white-space: pre-wrap; overflow-wrap: anywhere }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0 } summary { cursor: pointer; padding: .5rem .8rem } details > div { padding: 0 .8rem .8rem }
button { font: inherit; padding: .3rem 1rem } input { font: inherit } code { font: 14px ui-monospace, monospace }
.method { display: inline-block; width: 3.2rem; font-weight: 600; color: var(--accent) } .note { opacity: .75 }
`;

export function page(title: string, body: string, script = ''): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body>${body}${script ? `<script>${script}</script>` : ''}</body></html>
`;
}
